//! Conversions between columns and values: timestamps as `timestamptz`, which counts microseconds.

use diesel::data_types::PgTimestamp;
use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::{Pg, PgValue};
use diesel::serialize::{self, Output, ToSql};
use diesel::sql_types::Timestamptz;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::timestamp::Timestamp;
use uuid::Uuid;

use crate::errors::inconsistent;

/// Milliseconds from the epoch of timestamps, 1970-01-01, to the epoch of PostgreSQL, 2000-01-01.
const EPOCH: i64 = 946_684_800_000;

/// A value of a `timestamptz` column: milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AsExpression, FromSqlRow)]
#[diesel(sql_type = Timestamptz)]
pub(crate) struct TimestampColumn(i64);

impl TimestampColumn {
    /// Converts the value of a row to a timestamp. PostgreSQL's range is larger than that of the model.
    pub(crate) fn into_timestamp(
        self,
        table: &'static str,
        column: &'static str,
        row: Uuid,
    ) -> Result<Timestamp, StoreError> {
        Timestamp::from_millis(self.0).ok_or_else(|| inconsistent(table, column, row))
    }
}

impl From<Timestamp> for TimestampColumn {
    fn from(at: Timestamp) -> Self {
        Self(at.millis())
    }
}

impl FromSql<Timestamptz, Pg> for TimestampColumn {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        let PgTimestamp(micros) = FromSql::<Timestamptz, Pg>::from_sql(value)?;
        Ok(Self(micros.div_euclid(1_000).saturating_add(EPOCH)))
    }
}

impl ToSql<Timestamptz, Pg> for TimestampColumn {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        let micros = (self.0 - EPOCH).checked_mul(1_000).ok_or("a timestamp is out of PostgreSQL's range")?;
        ToSql::<Timestamptz, Pg>::to_sql(&PgTimestamp(micros), &mut out.reborrow())
    }
}

/// Converts a nullable value of a row to a timestamp.
pub(crate) fn optional_timestamp(
    timestamp: Option<TimestampColumn>,
    table: &'static str,
    column: &'static str,
    row: Uuid,
) -> Result<Option<Timestamp>, StoreError> {
    timestamp.map(|timestamp| timestamp.into_timestamp(table, column, row)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_epochs_are_thirty_years_apart() {
        assert_eq!(Timestamp::from_millis(EPOCH).unwrap().to_string(), "2000-01-01T00:00:00.000Z");
    }

    #[test]
    fn a_timestamp_that_the_model_cannot_hold_is_named_with_its_row() {
        let error = TimestampColumn(i64::MAX).into_timestamp("votes", "created_at", Uuid::nil()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "stored data is inconsistent: votes.created_at of row 00000000-0000-0000-0000-000000000000"
        );
    }
}
