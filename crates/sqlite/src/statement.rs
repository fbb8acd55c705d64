//! Statements written in SQL, which diesel's query builder cannot express.

/// Declares a statement: its parameters, in the order of its question marks, and the types of the columns that it
/// returns, if any.
///
/// The statement is prepared once per connection. Diesel's own `sql_query` would plan it again at every execution.
macro_rules! statement {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $rust:ty => $sql_type:ty),+ $(,)? } $sql:expr) => {
        $crate::statement::statement! {
            $(#[$doc])* $name { $($field: $rust => $sql_type),+ } -> diesel::sql_types::Untyped, $sql
        }
    };
    ($(#[$doc:meta])* $name:ident { $($field:ident: $rust:ty => $sql_type:ty),+ $(,)? } -> $row:ty, $sql:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub(crate) struct $name {
            $(pub(crate) $field: $rust,)+
        }

        impl diesel::query_builder::QueryFragment<diesel::sqlite::Sqlite> for $name {
            fn walk_ast<'b>(
                &'b self,
                mut out: diesel::query_builder::AstPass<'_, 'b, diesel::sqlite::Sqlite>,
            ) -> diesel::QueryResult<()> {
                let mut pieces = $sql.split('?');
                out.push_sql(pieces.next().unwrap_or_default());
                $(
                    out.push_bind_param::<$sql_type, _>(&self.$field)?;
                    out.push_sql(pieces.next().unwrap_or_default());
                )+
                Ok(())
            }
        }

        impl diesel::query_builder::QueryId for $name {
            type QueryId = Self;
            const HAS_STATIC_QUERY_ID: bool = true;
        }

        impl diesel::query_builder::Query for $name {
            type SqlType = $row;
        }

        impl diesel::RunQueryDsl<diesel::SqliteConnection> for $name {}
    };
}
pub(crate) use statement;
