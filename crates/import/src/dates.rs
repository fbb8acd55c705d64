//! Timestamps as the files of an import write them (contract section 4, "Times").

use roadmap_domain::model::timestamp::Timestamp;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{Date, PrimitiveDateTime, Time, UtcOffset};

/// Numbers up to this one are seconds since 1970, larger ones milliseconds: the year 5138, or March 1973.
const MAX_SECONDS: i64 = 100_000_000_000;

const DATE: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");
const DAY_FIRST: &[BorrowedFormatItem<'_>] =
    format_description!("[day padding:none][first [/][.][-]][month padding:none][first [/][.][-]][year]");
const MONTH_FIRST: &[BorrowedFormatItem<'_>] =
    format_description!("[month padding:none][first [/][.][-]][day padding:none][first [/][.][-]][year]");
const TIMES: [&[BorrowedFormatItem<'_>]; 4] = [
    format_description!("[hour padding:none]:[minute]"),
    format_description!("[hour padding:none]:[minute]:[second]"),
    format_description!("[hour padding:none]:[minute]:[second].[subsecond]"),
    format_description!("[hour padding:none]:[minute]:[second],[subsecond]"),
];
const TWELVE_HOUR_TIMES: [&[BorrowedFormatItem<'_>]; 2] = [
    format_description!("[hour padding:none repr:12]:[minute][period case_sensitive:false]"),
    format_description!("[hour padding:none repr:12]:[minute]:[second][period case_sensitive:false]"),
];
const OFFSETS: [&[BorrowedFormatItem<'_>]; 3] = [
    format_description!("[offset_hour sign:mandatory]:[offset_minute]"),
    format_description!("[offset_hour sign:mandatory][offset_minute]"),
    format_description!("[offset_hour sign:mandatory]"),
];

/// The order of a date such as `01/02/2024` or `1.2.2024`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayOrder {
    /// `--dates dmy`
    DayFirst,
    /// `--dates mdy`
    MonthFirst,
}

impl DayOrder {
    /// Parses the value of the option.
    #[must_use]
    pub fn from_option(value: &str) -> Option<Self> {
        match value {
            "dmy" => Some(Self::DayFirst),
            "mdy" => Some(Self::MonthFirst),
            _ => None,
        }
    }
}

/// How the timestamps of a run are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dates {
    /// The order of dates that do not begin with the year. Without it they are unreadable.
    pub order: Option<DayOrder>,
    /// The time of the run. Anything later is in the future.
    pub now: Timestamp,
}

/// What a cell says of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Nothing.
    Missing,
    /// A time that is not in the future.
    At(Timestamp),
    /// A time that cannot be used, to be listed.
    Unusable(DateProblem),
}

/// Why a time cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DateProblem {
    /// Not of any known form, or no day of the calendar.
    #[error("the time cannot be read")]
    Unreadable,
    /// It would be readable with an order of days and months.
    #[error("the time cannot be read without --dates dmy or --dates mdy")]
    AmbiguousOrder,
    /// Later than the run.
    #[error("the time is in the future")]
    Future,
}

impl Dates {
    /// Reads a time: RFC 3339; `YYYY-MM-DD[ HH:MM[:SS[.f]]][ zone]`; seconds or milliseconds since 1970; and with an
    /// [`DayOrder`] dates such as `1.2.2024 3:04 PM`. Without a zone it is UTC.
    #[must_use]
    pub fn read(&self, text: &str) -> When {
        let text = text.trim();
        if text.is_empty() {
            return When::Missing;
        }
        match self.parse(text) {
            Some(time) if time > self.now => When::Unusable(DateProblem::Future),
            Some(time) => When::At(time),
            None if self.order.is_none()
                && [DayOrder::DayFirst, DayOrder::MonthFirst]
                    .iter()
                    .any(|order| parse_text(text, Some(*order)).is_some()) =>
            {
                When::Unusable(DateProblem::AmbiguousOrder)
            }
            None => When::Unusable(DateProblem::Unreadable),
        }
    }

    fn parse(&self, text: &str) -> Option<Timestamp> {
        parse_number(text).or_else(|| Timestamp::parse(text)).or_else(|| parse_text(text, self.order))
    }
}

/// Parses seconds or milliseconds since 1970.
fn parse_number(text: &str) -> Option<Timestamp> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: i64 = text.parse().ok()?;
    let millis = if number <= MAX_SECONDS { number.checked_mul(1000)? } else { number };
    Timestamp::from_millis(millis).filter(|time| *time <= Timestamp::MAX)
}

/// Parses a date, perhaps a time of the day, perhaps a zone.
fn parse_text(text: &str, order: Option<DayOrder>) -> Option<Timestamp> {
    // `T` or white space is before the time, in some spreadsheets after a comma.
    let (date, rest) = match text.find(|c: char| c.is_whitespace() || c == ',' || c == 'T' || c == 't') {
        Some(end) => (text.get(..end)?, text.get(end + 1..)?.trim_start()),
        None => (text, ""),
    };
    let date = parse_date(date, order)?;
    let (time, zone) = split_zone(rest);
    let time = if time.is_empty() { Time::MIDNIGHT } else { parse_time(time)? };
    let offset = parse_zone(zone)?;
    let timestamp = PrimitiveDateTime::new(date, time).assume_offset(offset);
    let utc = timestamp.checked_to_offset(UtcOffset::UTC)?;
    (0..=9999).contains(&utc.year()).then(|| Timestamp::new(utc))
}

fn parse_date(text: &str, order: Option<DayOrder>) -> Option<Date> {
    let by_order = || match order? {
        DayOrder::DayFirst => Date::parse(text, DAY_FIRST).ok(),
        DayOrder::MonthFirst => Date::parse(text, MONTH_FIRST).ok(),
    };
    Date::parse(text, DATE).ok().or_else(by_order)
}

/// Splits what follows a date into the time of the day, with AM or PM, and the zone.
fn split_zone(text: &str) -> (&str, &str) {
    let upper = text.to_ascii_uppercase();
    let end = match upper.find("AM").or_else(|| upper.find("PM")) {
        Some(period) => period + 2,
        None => upper.find(|c: char| matches!(c, '+' | '-' | 'A'..='Z')).unwrap_or(text.len()),
    };
    let (time, zone) = text.split_at_checked(end).unwrap_or((text, ""));
    (time.trim(), zone.trim())
}

fn parse_time(text: &str) -> Option<Time> {
    match text.strip_suffix(['M', 'm']) {
        Some(_) => {
            let text: String = text.split_whitespace().collect();
            TWELVE_HOUR_TIMES.iter().find_map(|form| Time::parse(&text, form).ok())
        }
        None => TIMES.iter().find_map(|form| Time::parse(text, form).ok()),
    }
}

fn parse_zone(text: &str) -> Option<UtcOffset> {
    if ["", "Z", "UTC", "GMT"].iter().any(|zone| zone.eq_ignore_ascii_case(text)) {
        return Some(UtcOffset::UTC);
    }
    let offset = OFFSETS.iter().find_map(|form| UtcOffset::parse(text, form).ok())?;
    (offset.whole_hours().unsigned_abs() < 24).then_some(offset)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str, order: Option<DayOrder>) -> String {
        let now = Timestamp::parse("2026-11-28T08:00:00Z").unwrap();
        match (Dates { order, now }).read(text) {
            When::Missing => "missing".to_owned(),
            When::At(time) => time.to_string(),
            When::Unusable(problem) => problem.to_string(),
        }
    }

    const UNREADABLE: &str = "the time cannot be read";
    const AMBIGUOUS: &str = "the time cannot be read without --dates dmy or --dates mdy";
    const FUTURE: &str = "the time is in the future";

    #[test]
    fn times_of_known_forms_are_read() {
        for (text, time) in [
            ("2024-05-01T10:20:30Z", "2024-05-01T10:20:30.000Z"),
            ("2024-05-01T10:20:30.123456+02:00", "2024-05-01T08:20:30.123Z"),
            ("2024-05-01t10:20:30z", "2024-05-01T10:20:30.000Z"),
            (" 2024-05-01 ", "2024-05-01T00:00:00.000Z"),
            ("2024-05-01 10:20", "2024-05-01T10:20:00.000Z"),
            ("2024-05-01T10:20", "2024-05-01T10:20:00.000Z"),
            ("2024-05-01 9:05", "2024-05-01T09:05:00.000Z"),
            ("2024-05-01 10:20:30", "2024-05-01T10:20:30.000Z"),
            ("2024-05-01 10:20:30.5", "2024-05-01T10:20:30.500Z"),
            ("2024-05-01 10:20:30.123456", "2024-05-01T10:20:30.123Z"),
            ("2024-05-01 10:20:30+00", "2024-05-01T10:20:30.000Z"),
            ("2024-05-01 10:20:30.123-07", "2024-05-01T17:20:30.123Z"),
            ("2024-05-01 10:20:30 +0530", "2024-05-01T04:50:30.000Z"),
            ("2024-05-01 10:20 -03:00", "2024-05-01T13:20:00.000Z"),
            ("2024-05-01 10:20:30 UTC", "2024-05-01T10:20:30.000Z"),
            ("2024-05-01 10:20:30 gmt", "2024-05-01T10:20:30.000Z"),
            ("2024-05-01 10:20:30Z", "2024-05-01T10:20:30.000Z"),
            ("2024-05-01 UTC", "2024-05-01T00:00:00.000Z"),
            ("2024-05-01 +02:00", "2024-04-30T22:00:00.000Z"),
            ("2024-05-01 3:04 PM", "2024-05-01T15:04:00.000Z"),
            ("2024-02-29", "2024-02-29T00:00:00.000Z"),
            ("0", "1970-01-01T00:00:00.000Z"),
            ("1714550400", "2024-05-01T08:00:00.000Z"),
            ("1714550400123", "2024-05-01T08:00:00.123Z"),
            ("2026-11-28T08:00:00Z", "2026-11-28T08:00:00.000Z"),
        ] {
            for order in [None, Some(DayOrder::DayFirst), Some(DayOrder::MonthFirst)] {
                assert_eq!(read(text, order), time, "{text}");
            }
        }
    }

    #[test]
    fn an_order_makes_other_dates_readable() {
        for (text, day_first, month_first) in [
            ("01/02/2024", "2024-02-01T00:00:00.000Z", "2024-01-02T00:00:00.000Z"),
            ("1.2.2024", "2024-02-01T00:00:00.000Z", "2024-01-02T00:00:00.000Z"),
            ("1-2-2024", "2024-02-01T00:00:00.000Z", "2024-01-02T00:00:00.000Z"),
            ("1.2.2024 9:05", "2024-02-01T09:05:00.000Z", "2024-01-02T09:05:00.000Z"),
            ("01/02/2024, 15:04:05", "2024-02-01T15:04:05.000Z", "2024-01-02T15:04:05.000Z"),
            ("1/2/2024 3:04 PM", "2024-02-01T15:04:00.000Z", "2024-01-02T15:04:00.000Z"),
            ("1/2/2024 12:04:05am", "2024-02-01T00:04:05.000Z", "2024-01-02T00:04:05.000Z"),
            ("1/2/2024 12:00 pm UTC", "2024-02-01T12:00:00.000Z", "2024-01-02T12:00:00.000Z"),
            ("1/2/2024 3:04 PM -01:00", "2024-02-01T16:04:00.000Z", "2024-01-02T16:04:00.000Z"),
            ("13.2.2024", "2024-02-13T00:00:00.000Z", UNREADABLE),
            ("2/13/2024", UNREADABLE, "2024-02-13T00:00:00.000Z"),
        ] {
            assert_eq!(read(text, None), AMBIGUOUS, "{text}");
            assert_eq!(read(text, Some(DayOrder::DayFirst)), day_first, "{text}");
            assert_eq!(read(text, Some(DayOrder::MonthFirst)), month_first, "{text}");
        }
    }

    #[test]
    fn other_texts_are_unreadable() {
        for text in [
            "2024-13-45",
            "2023-02-29",
            "2024-05-01 25:00",
            "2024-05-01 13:00 PM",
            "2024-05-01 10:00 CEST",
            "2024-05-01 10:00:00 +25:00",
            "2024-05-01 10",
            "2024-5",
            "1.2.24",
            "32.13.2024",
            "yesterday",
            "-1",
            "1.5e9",
            "99999999999999999999",
            "9223372036854775807",
            "2024-05-01\x0010:00",
            "ü",
            "İAM",
        ] {
            for order in [None, Some(DayOrder::DayFirst)] {
                assert_eq!(read(text, order), UNREADABLE, "{text}");
            }
        }
    }

    #[test]
    fn a_time_after_the_run_is_in_the_future() {
        for text in ["2026-11-28T08:00:00.001Z", "2026-11-28 07:00 -02:00", "1900000000", "1900000000000", "9999-12-31"]
        {
            assert_eq!(read(text, None), FUTURE, "{text}");
        }
        assert_eq!(read("1.1.2027", Some(DayOrder::DayFirst)), FUTURE);
    }

    #[test]
    fn blank_is_missing() {
        for text in ["", " \t"] {
            assert_eq!(read(text, None), "missing");
        }
    }

    #[test]
    fn the_option_has_two_values() {
        assert_eq!(DayOrder::from_option("dmy"), Some(DayOrder::DayFirst));
        assert_eq!(DayOrder::from_option("mdy"), Some(DayOrder::MonthFirst));
        assert_eq!(DayOrder::from_option("ymd"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[0-9:.+/TZAPMm \\-ü,]{0,30}") {
            read(&text, Some(DayOrder::DayFirst));
            read(&text, None);
        }
    }
}
