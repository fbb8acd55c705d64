//! Time zones of the IANA time zone database, of which the service has its own copy.

use std::sync::LazyLock;

use jiff::civil::DateTime;
use jiff::tz::{self, AmbiguousOffset, TimeZoneDatabase};
use time::{Date, Duration, Month, PrimitiveDateTime, Time};

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::timestamp::Timestamp;

static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The names of all zones, sorted.
static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut names: Vec<String> = DATABASE.available().map(|name| name.as_str().to_owned()).collect();
    names.sort_unstable();
    names
});

/// The regions whose zones are offered to choose from. The database has more names, most of them old ones.
const REGIONS: [&str; 10] = [
    "Africa/",
    "America/",
    "Antarctica/",
    "Arctic/",
    "Asia/",
    "Atlantic/",
    "Australia/",
    "Europe/",
    "Indian/",
    "Pacific/",
];

/// A time zone, by which times are shown and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeZone(&'static str);

impl Default for TimeZone {
    fn default() -> Self {
        Self::UTC
    }
}

/// What a time of day means in a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalTime {
    /// It is this point in time.
    Once(Timestamp),
    /// Clocks are set forward over it.
    Never,
    /// Clocks are set back over it.
    Twice,
}

impl TimeZone {
    /// Coordinated universal time.
    pub const UTC: Self = Self("UTC");

    /// Parses a name of the database, regardless of case: `Europe/Berlin`.
    ///
    /// # Errors
    /// The database has no such zone.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        let name = raw.trim();
        let found = NAMES.iter().find(|known| known.eq_ignore_ascii_case(name));
        let expected = "an IANA time zone such as Europe/Berlin";
        found.map(|name| Self(name)).ok_or_else(|| FieldError::new(field, FieldProblem::Malformed { expected }))
    }

    /// Returns the zone with a stored name: UTC if this version does not know it.
    #[must_use]
    pub fn from_stored(name: &str) -> Self {
        NAMES.iter().find(|known| *known == name).map_or(Self::UTC, |name| Self(name))
    }

    /// Returns the zones to choose from: UTC, and those of all regions.
    pub fn choices() -> impl Iterator<Item = Self> {
        let of_regions = NAMES.iter().filter(|name| REGIONS.iter().any(|region| name.starts_with(region)));
        std::iter::once(Self::UTC).chain(of_regions.map(|name| Self(name)))
    }

    /// Returns the name of the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0
    }

    fn zone(self) -> tz::TimeZone {
        // A name is only made of those of the database.
        DATABASE.get(self.0).unwrap_or(tz::TimeZone::UTC)
    }

    /// Returns the date and the time of day at a point in time.
    #[must_use]
    pub fn local(self, at: Timestamp) -> PrimitiveDateTime {
        // Outside of the years that the crate knows, the offset does not matter.
        let offset = jiff::Timestamp::from_millisecond(at.millis()).map_or(0, |at| self.zone().to_offset(at).seconds());
        let utc = at.to_utc();
        utc.saturating_add(Duration::seconds(offset.into()))
    }

    /// Returns what a date and a time of day mean.
    #[must_use]
    pub fn resolve(self, local: PrimitiveDateTime) -> LocalTime {
        let at = |offset: i32| Timestamp::new(local.assume_utc().saturating_sub(Duration::seconds(offset.into())));
        let Some(civil) = to_civil(local) else { return LocalTime::Once(at(0)) };
        match self.zone().to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => LocalTime::Once(at(offset.seconds())),
            AmbiguousOffset::Gap { .. } => LocalTime::Never,
            AmbiguousOffset::Fold { .. } => LocalTime::Twice,
        }
    }

    /// Returns the beginning of a day: midnight, or the first time of day after it if clocks are set over it.
    #[must_use]
    pub fn start_of_day(self, day: Date) -> Timestamp {
        self.time_of_day(day, Time::MIDNIGHT)
    }

    /// Returns a time of a day. If clocks are set forward over it, it is as much later; if they are set back over it, the
    /// first one counts.
    #[must_use]
    pub fn time_of_day(self, day: Date, time: Time) -> Timestamp {
        let local = PrimitiveDateTime::new(day, time);
        let civil = to_civil(local).and_then(|civil| self.zone().to_ambiguous_timestamp(civil).compatible().ok());
        let at = civil.and_then(|at| Timestamp::from_millis(at.as_millisecond()));
        at.unwrap_or_else(|| Timestamp::new(local.assume_utc()))
    }
}

impl std::fmt::Display for TimeZone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

fn to_civil(local: PrimitiveDateTime) -> Option<DateTime> {
    let (year, month, day) = (i16::try_from(local.year()).ok()?, u8::from(local.month()), local.day());
    let (hour, minute, second) = (local.hour(), local.minute(), local.second());
    let nanosecond = i32::try_from(local.nanosecond()).ok()?;
    let [month, day, hour, minute, second] =
        [month, day, hour, minute, second].map(|part| i8::try_from(part).unwrap_or(0));
    DateTime::new(year, month, day, hour, minute, second, nanosecond).ok()
}

/// Parses a date and a time of day, as a field `datetime-local` of HTML has it: `2026-03-31T09:00`. Seconds and a space
/// instead of the `T` are possible.
#[must_use]
pub fn parse_local(raw: &str) -> Option<PrimitiveDateTime> {
    let (date, time) = raw.trim().split_once(['T', ' '])?;
    let seconds = if time.len() == "09:00".len() { ":00" } else { "" };
    let at = Timestamp::parse(&format!("{date}T{time}{seconds}Z"))?;
    Some(at.to_utc())
}

/// Writes a date and a time of day as [`parse_local`] reads it, in whole minutes.
#[must_use]
pub fn write_local(local: PrimitiveDateTime) -> String {
    let (month, day) = (u8::from(local.month()), local.day());
    format!("{:04}-{month:02}-{day:02}T{:02}:{:02}", local.year(), local.hour(), local.minute())
}

/// Returns a day of the calendar.
///
/// # Errors
/// Text that is no day, such as `2026-02-30`.
pub fn parse_day(field: &str, raw: &str) -> Validated<Date> {
    let invalid = || FieldError::new(field, FieldProblem::Malformed { expected: "a date such as 2026-03-31" });
    let mut parts = raw.trim().splitn(3, '-');
    let mut part = || parts.next().filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let (year, month, day) = (part(), part(), part());
    let date = || {
        let month = Month::try_from(month?.parse::<u8>().ok()?).ok()?;
        Date::from_calendar_date(year?.parse().ok()?, month, day?.parse().ok()?).ok()
    };
    date().filter(|_| raw.trim().len() == "2026-03-31".len()).ok_or_else(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn berlin() -> TimeZone {
        TimeZone::parse("time_zone", "Europe/Berlin").unwrap()
    }

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn names_are_those_of_the_database() {
        for (raw, name) in [
            ("Europe/Berlin", "Europe/Berlin"),
            (" europe/berlin ", "Europe/Berlin"),
            ("utc", "UTC"),
            ("America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"),
            ("Asia/Kathmandu", "Asia/Kathmandu"),
        ] {
            let zone = TimeZone::parse("time_zone", raw).unwrap();
            assert_eq!((zone.name(), TimeZone::from_stored(zone.name())), (name, zone), "{raw}");
        }
        for raw in ["", "Berlin", "Europe/Berlin2", "+01:00", "Europe", "../Europe/Berlin", "Mars/Phobos", "UTC\0"] {
            let error = TimeZone::parse("time_zone", raw).unwrap_err().to_string();
            assert_eq!(error, "time_zone is not an IANA time zone such as Europe/Berlin", "{raw}");
        }
        assert_eq!(TimeZone::from_stored("Mars/Phobos"), TimeZone::UTC);
        let choices: Vec<TimeZone> = TimeZone::choices().collect();
        assert!(choices[0] == TimeZone::UTC && choices.contains(&berlin()) && choices.len() > 400);
        assert!(!choices.iter().any(|zone| zone.name().starts_with("Etc/")));
    }

    /// Every time has a local one, and each that exists once leads back.
    #[test]
    fn clocks_are_set_forward_and_back() {
        for (utc, local) in [
            ("2026-01-15T08:00:00Z", "2026-01-15T09:00"),
            ("2026-07-15T08:00:00Z", "2026-07-15T10:00"),
            // The last minute before and the first one after each change of the year.
            ("2026-03-29T00:59:00Z", "2026-03-29T01:59"),
            ("2026-03-29T01:00:00Z", "2026-03-29T03:00"),
            ("2026-10-24T23:59:00Z", "2026-10-25T01:59"),
            ("2026-10-25T02:00:00Z", "2026-10-25T03:00"),
            ("2026-12-31T23:30:00Z", "2027-01-01T00:30"),
        ] {
            let found = berlin().local(at(utc));
            assert_eq!(write_local(found), local, "{utc}");
            assert_eq!(berlin().resolve(found), LocalTime::Once(at(utc)), "{utc}");
            assert_eq!(parse_local(local), Some(found), "{utc}");
        }
        let resolved = |local: &str| berlin().resolve(parse_local(local).unwrap());
        for local in ["2026-03-29T02:00", "2026-03-29T02:30", "2026-03-29T02:59"] {
            assert_eq!(resolved(local), LocalTime::Never, "{local}");
        }
        for local in ["2026-10-25T02:00", "2026-10-25T02:30", "2026-10-25T02:59"] {
            assert_eq!(resolved(local), LocalTime::Twice, "{local}");
        }
        assert_eq!(
            TimeZone::UTC.resolve(parse_local("2026-03-29T02:30").unwrap()),
            LocalTime::Once(at("2026-03-29T02:30:00Z"))
        );
    }

    #[test]
    fn every_day_has_a_beginning_and_every_time_of_day_once() {
        let day = |raw: &str| parse_day("day", raw).unwrap();
        let eight = Time::from_hms(8, 0, 0).unwrap();
        for (zone, date, time, expected) in [
            ("Europe/Berlin", "2026-03-28", eight, "2026-03-28T07:00:00Z"),
            ("Europe/Berlin", "2026-03-29", eight, "2026-03-29T06:00:00Z"),
            ("Europe/Berlin", "2026-10-24", eight, "2026-10-24T06:00:00Z"),
            ("Europe/Berlin", "2026-10-25", eight, "2026-10-25T07:00:00Z"),
            ("Asia/Kathmandu", "2026-03-29", eight, "2026-03-29T02:15:00Z"),
            // Clocks are set forward over it, and back over it.
            ("Europe/Berlin", "2026-03-29", Time::from_hms(2, 30, 0).unwrap(), "2026-03-29T01:30:00Z"),
            ("Europe/Berlin", "2026-10-25", Time::from_hms(2, 30, 0).unwrap(), "2026-10-25T00:30:00Z"),
            // Clocks are set forward at midnight.
            ("Africa/Cairo", "2026-04-24", Time::MIDNIGHT, "2026-04-23T22:00:00Z"),
        ] {
            let zone = TimeZone::parse("time_zone", zone).unwrap();
            assert_eq!(zone.time_of_day(day(date), time), at(expected), "{zone} {date} {time}");
        }
        assert_eq!(berlin().start_of_day(day("2026-07-01")), at("2026-06-30T22:00:00Z"));
    }

    #[test]
    fn times_and_days_are_read_as_browsers_write_them() {
        let parsed = |raw: &str| parse_local(raw).map(|local| local.to_string());
        for (raw, expected) in [
            ("2026-03-31T09:00", Some("2026-03-31 9:00:00.0")),
            (" 2026-03-31 09:00 ", Some("2026-03-31 9:00:00.0")),
            ("2026-03-31T09:00:30", Some("2026-03-31 9:00:30.0")),
            ("2026-03-31T09:00:30.5", Some("2026-03-31 9:00:30.5")),
            ("31.3.2026, 09:00", None),
            ("2026-02-30T09:00", None),
            ("2026-03-31T09:00+0", None),
            ("2026-03-31T09:00:00+01:00", None),
            ("2026-03-31", None),
            ("", None),
        ] {
            assert_eq!(parsed(raw).as_deref(), expected, "{raw}");
        }
        for (raw, is_day) in [
            ("2026-03-31", true),
            (" 2024-02-29 ", true),
            ("2026-02-30", false),
            ("2026-3-31", false),
            ("31.3.2026", false),
            ("+026-03-31", false),
            ("", false),
        ] {
            assert_eq!(parse_day("from", raw).is_ok(), is_day, "{raw}");
        }
    }

    #[test]
    fn extreme_times_have_a_local_one() {
        for extreme in [Timestamp::MIN, Timestamp::MAX] {
            let local = berlin().local(extreme);
            assert!(matches!(berlin().resolve(local), LocalTime::Once(_)), "{extreme}");
        }
    }
}
