//! Values of columns that the two databases store in different ways: IDs, timestamps and lists of texts.

use std::fmt;

use diesel::data_types::PgTimestamp;
use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::{Pg, PgValue};
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{Array, BigInt, Binary, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel::sqlite::{Sqlite, SqliteValue};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::timestamp::Timestamp;
use uuid::Uuid;

/// A UUID: a blob of 16 bytes on SQLite, and a `uuid` on PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AsExpression, FromSqlRow)]
#[diesel(sql_type = Binary)]
#[diesel(sql_type = SqlUuid)]
pub struct Id(pub Uuid);

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromSql<Binary, Sqlite> for Id {
    fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        let bytes = <Vec<u8> as FromSql<Binary, Sqlite>>::from_sql(value)?;
        Ok(Self(Uuid::from_slice(&bytes)?))
    }
}

impl ToSql<Binary, Sqlite> for Id {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0.as_bytes().as_slice());
        Ok(IsNull::No)
    }
}

impl FromSql<SqlUuid, Pg> for Id {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        FromSql::<SqlUuid, Pg>::from_sql(value).map(Self)
    }
}

impl ToSql<SqlUuid, Pg> for Id {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        ToSql::<SqlUuid, Pg>::to_sql(&self.0, out)
    }
}

/// Milliseconds from the epoch of timestamps, 1970-01-01, to the epoch of PostgreSQL, 2000-01-01.
const EPOCH: i64 = 946_684_800_000;

/// Milliseconds since 1970-01-01T00:00:00Z: a number on SQLite, and a `timestamptz`, which counts microseconds, on
/// PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AsExpression, FromSqlRow)]
#[diesel(sql_type = BigInt)]
#[diesel(sql_type = Timestamptz)]
pub struct TimestampColumn(pub i64);

impl TimestampColumn {
    /// Converts the value of a row to a timestamp. The range of both databases is larger than that of the model.
    ///
    /// # Errors
    /// The model cannot hold the timestamp.
    pub fn into_timestamp(
        self,
        table: &'static str,
        column: &'static str,
        row: impl ToString,
    ) -> Result<Timestamp, StoreError> {
        Timestamp::from_millis(self.0).ok_or_else(|| inconsistent(table, column, row))
    }
}

impl From<Timestamp> for TimestampColumn {
    fn from(at: Timestamp) -> Self {
        Self(at.millis())
    }
}

impl FromSql<BigInt, Sqlite> for TimestampColumn {
    fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        FromSql::<BigInt, Sqlite>::from_sql(value).map(Self)
    }
}

impl ToSql<BigInt, Sqlite> for TimestampColumn {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        ToSql::<BigInt, Sqlite>::to_sql(&self.0, out)
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

/// Returns the smallest ID of a record that was created at a time or later: IDs begin with the timestamp of the creation.
#[must_use]
pub fn first_id_at(at: Timestamp) -> Uuid {
    Uuid::from_u128(u128::from(at.millis().max(0).unsigned_abs()) << 80)
}

/// Converts a nullable value of a row to a timestamp.
///
/// # Errors
/// The model cannot hold the timestamp.
pub fn optional_timestamp(
    timestamp: Option<TimestampColumn>,
    table: &'static str,
    column: &'static str,
    row: impl ToString,
) -> Result<Option<Timestamp>, StoreError> {
    timestamp.map(|timestamp| timestamp.into_timestamp(table, column, row)).transpose()
}

/// Texts without line breaks: an array on PostgreSQL, and one per line on SQLite, where NULL is none.
#[derive(Debug, FromSqlRow)]
pub struct TextList(pub Vec<String>);

impl FromSql<Nullable<Text>, Sqlite> for TextList {
    fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        let lines = <String as FromSql<Text, Sqlite>>::from_sql(value)?;
        Ok(Self(lines.lines().map(str::to_owned).collect()))
    }

    fn from_nullable_sql(value: Option<SqliteValue<'_, '_, '_>>) -> deserialize::Result<Self> {
        value.map_or_else(|| Ok(Self(Vec::new())), <Self as FromSql<Nullable<Text>, Sqlite>>::from_sql)
    }
}

impl FromSql<Array<Text>, Pg> for TextList {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        FromSql::<Array<Text>, Pg>::from_sql(value).map(Self)
    }
}

/// Returns the error for a value that the model does not have.
pub fn inconsistent(table: &'static str, column: &'static str, row: impl ToString) -> StoreError {
    StoreError::Inconsistent { table, column, row: row.to_string() }
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
