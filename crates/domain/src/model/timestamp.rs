//! Timestamps in UTC with the stored and displayed precision of milliseconds.

use time::format_description::well_known::Rfc3339;
use time::{
    OffsetDateTime, PrimitiveDateTime, Time, UtcOffset,
    macros::{datetime, format_description},
};

/// A timestamp in UTC with millisecond precision.
///
/// The range is that of RFC 3339: years 0000 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(OffsetDateTime);

impl Timestamp {
    /// The earliest timestamp.
    pub const MIN: Self = Self(datetime!(0000-01-01 00:00 UTC));
    /// The latest timestamp.
    pub const MAX: Self = Self(datetime!(9999-12-31 23:59:59.999 UTC));

    /// Creates a timestamp, truncated to whole milliseconds.
    #[must_use]
    pub fn new(timestamp: OffsetDateTime) -> Self {
        // Only the last hours of the range are no time in UTC: they become its end.
        let end = timestamp.replace_offset(UtcOffset::UTC);
        let timestamp = timestamp.checked_to_offset(UtcOffset::UTC).unwrap_or(end);
        Self(timestamp.replace_millisecond(timestamp.millisecond()).unwrap_or(timestamp))
    }

    /// Parses a timestamp in the format of RFC 3339, in any zone. Returns `None` for any other text, and for a time
    /// that is not in the years 0000 to 9999 in UTC.
    #[must_use]
    pub fn parse(raw: &str) -> Option<Self> {
        let utc = OffsetDateTime::parse(raw, &Rfc3339).ok()?.checked_to_offset(UtcOffset::UTC)?;
        (0..=9999).contains(&utc.year()).then(|| Self::new(utc))
    }

    /// Creates a timestamp from the milliseconds since 1970-01-01T00:00:00Z. Returns `None` when out of range.
    #[must_use]
    pub fn from_millis(millis: i64) -> Option<Self> {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(millis) * 1_000_000).ok().map(Self)
    }

    /// Returns the milliseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub fn millis(self) -> i64 {
        // The type's range is about ±2.5e14 ms, far inside i64.
        i64::try_from(self.0.unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX)
    }

    /// Returns the start of the day (UTC).
    #[must_use]
    pub fn start_of_day(self) -> Self {
        Self(self.0.replace_time(Time::MIDNIGHT))
    }

    /// Returns the date and the time of day in UTC.
    #[must_use]
    pub fn to_utc(self) -> PrimitiveDateTime {
        PrimitiveDateTime::new(self.0.date(), self.0.time())
    }

    /// Adds `span`, which may be negative. Saturates at the ends of the range.
    #[must_use]
    pub fn plus(self, span: time::Duration) -> Self {
        Self(self.0.saturating_add(span))
    }
}

impl std::fmt::Display for Timestamp {
    /// RFC 3339 with milliseconds and `Z`: `2026-03-01T09:30:00.000Z`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let form = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
        f.write_str(&self.0.format(form).map_err(|_| std::fmt::Error)?)
    }
}

impl serde::Serialize for Timestamp {
    /// As [`std::fmt::Display`].
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Timestamp {
    /// As [`Timestamp::parse`].
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("no timestamp of RFC 3339"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract 2.2; Decision 3.
    #[test]
    fn shows_rfc_3339_with_milliseconds_in_utc() {
        let timestamp = Timestamp::new(datetime!(2026-03-01 10:30:00.123_999 +1));
        assert_eq!(timestamp.to_string(), "2026-03-01T09:30:00.123Z");
        assert_eq!(Timestamp::from_millis(timestamp.millis()), Some(timestamp));
        assert_eq!(Timestamp::from_millis(-1).unwrap().to_string(), "1969-12-31T23:59:59.999Z");
    }

    /// Beyond the contract.
    #[test]
    fn a_text_of_rfc_3339_is_a_timestamp_if_it_is_in_range_in_utc() {
        for (raw, expected) in [
            ("2026-03-01T09:30:00Z", Some("2026-03-01T09:30:00.000Z")),
            ("2026-03-01T09:30:00.9999+01:00", Some("2026-03-01T08:30:00.999Z")),
            ("9999-12-31T23:59:59Z", Some("9999-12-31T23:59:59.000Z")),
            ("9999-12-31T23:59:59.999999999Z", Some("9999-12-31T23:59:59.999Z")),
            ("9999-12-31T23:59:59+23:59", Some("9999-12-31T00:00:59.000Z")),
            ("9999-12-31T23:59:59-00:01", None),
            ("9999-12-31T23:59:59-01:00", None),
            ("9999-12-31T00:00:00-23:59", Some("9999-12-31T23:59:00.000Z")),
            ("9999-12-31T00:01:00-23:59", None),
            ("0000-01-01T00:00:00Z", Some("0000-01-01T00:00:00.000Z")),
            ("0000-01-01T00:00:00-23:59", Some("0000-01-01T23:59:00.000Z")),
            ("0000-01-01T00:00:00+00:01", None),
            ("0000-01-01T00:00:00+23:59", None),
            // A leap second is the end of the second before it.
            ("2016-12-31T23:59:60Z", Some("2016-12-31T23:59:59.999Z")),
            ("2017-01-01T00:59:60+01:00", Some("2016-12-31T23:59:59.999Z")),
            ("9999-12-31T23:59:60Z", Some("9999-12-31T23:59:59.999Z")),
            ("9999-12-31T22:59:60-01:00", Some("9999-12-31T23:59:59.999Z")),
            ("9999-12-31T23:59:60-01:00", None),
            ("2026-03-01T12:30:60Z", None),
            ("2026-02-29T00:00:00Z", None),
            ("2026-03-01T24:00:00Z", None),
            ("2026-03-01T09:30:00", None),
            ("2026-03-01T09:30:00+24:00", None),
            ("10000-01-01T00:00:00Z", None),
            ("-0001-01-01T00:00:00Z", None),
            ("2026-03-01", None),
            ("now", None),
            ("", None),
        ] {
            assert_eq!(Timestamp::parse(raw).map(|parsed| parsed.to_string()).as_deref(), expected, "{raw}");
        }
    }

    #[test]
    fn a_time_that_is_after_the_range_in_utc_is_its_end() {
        let late = Timestamp::new(datetime!(9999-12-31 23:59:59.999 -1));
        assert_eq!(late.to_string(), "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn a_day_starts_at_midnight_in_utc() {
        let midnight = Timestamp::new(datetime!(2026-03-01 00:00 UTC));
        for at in [midnight, Timestamp::new(datetime!(2026-03-02 00:59:59.999 +1))] {
            assert_eq!(at.start_of_day(), midnight);
        }
        assert_eq!(midnight.plus(-time::Duration::MILLISECOND).start_of_day(), midnight.plus(-time::Duration::DAY));
    }

    #[test]
    fn sums_stay_in_range() {
        let end = Timestamp::new(datetime!(9999-12-31 23:59:59.999 UTC));
        assert_eq!(end.plus(time::Duration::days(1)).to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::from_millis(i64::MAX), None);
    }
}
