//! Conversions between columns and values: ids as 16-byte blobs, timestamps as milliseconds.

use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::Binary;
use diesel::sqlite::{Sqlite, SqliteValue};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::timestamp::Timestamp;
use uuid::Uuid;

use crate::errors::inconsistent;

/// A UUID in a blob column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AsExpression, FromSqlRow)]
#[diesel(sql_type = Binary)]
pub(crate) struct Id(pub(crate) Uuid);

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

/// Converts a column of milliseconds to a timestamp.
pub(crate) fn timestamp(
    millis: i64,
    table: &'static str,
    column: &'static str,
    row: Id,
) -> Result<Timestamp, StoreError> {
    Timestamp::from_millis(millis).ok_or_else(|| inconsistent(table, column, row.0))
}

/// Converts a nullable column of milliseconds to a timestamp.
pub(crate) fn optional_timestamp(
    millis: Option<i64>,
    table: &'static str,
    column: &'static str,
    row: Id,
) -> Result<Option<Timestamp>, StoreError> {
    millis.map(|millis| timestamp(millis, table, column, row)).transpose()
}
