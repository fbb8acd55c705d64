//! Statements written in SQL, which diesel's query builder cannot express.

/// Declares a statement: its parameters, in the order of its question marks, and the types of the columns that it
/// returns, if any. Another number of question marks is a compile error.
macro_rules! statement {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $rust:ty => $sql_type:ty),+ $(,)? } $sql:expr) => {
        $crate::statement::statement! {
            $(#[$doc])* $name { $($field: $rust => $sql_type),+ } -> diesel::sql_types::Untyped, $sql
        }
    };
    ($(#[$doc:meta])* $name:ident { $($field:ident: $rust:ty => $sql_type:ty),+ $(,)? } -> $row:ty, $sql:expr) => {
        const _: () = assert!(
            roadmap_store::statement::count_placeholders($sql) == [$(stringify!($field)),+].len(),
            "the statement has another number of question marks than of fields"
        );

        roadmap_store::declare_statement! {
            $(#[$doc])* $name { $($field: $rust),+ } -> $row
        }

        impl diesel::query_builder::QueryFragment<diesel::sqlite::Sqlite> for $name {
            fn walk_ast<'b>(
                &'b self,
                mut out: diesel::query_builder::AstPass<'_, 'b, diesel::sqlite::Sqlite>,
            ) -> diesel::QueryResult<()> {
                out.push_sql(Self::COMMENT);
                let mut pieces = $sql.split('?');
                out.push_sql(pieces.next().unwrap_or_default());
                $(
                    out.push_bind_param::<$sql_type, _>(&self.$field)?;
                    out.push_sql(pieces.next().unwrap_or_default());
                )+
                Ok(())
            }
        }

        impl diesel::RunQueryDsl<diesel::SqliteConnection> for $name {}
    };
}
pub(crate) use statement;

/// The SQL that adds the same event to the history of some feature requests, those of the given condition. Its parameters are
/// those of an event, the milliseconds of its ID first, then those of the condition. The IDs are UUIDs of version 7.
macro_rules! inserted_events {
    ($of:literal) => {
        concat!(
            "INSERT INTO feature_request_events
         (workspace_id, id, request_id, kind, details, actor_kind, actor_id, actor_name, created_at)
     SELECT workspace_id, unhex(format('%012x7%03x8%015x', ?, random() & 0xfff, random() & 0xfffffffffffffff)), id,
            ?, ?, ?, ?, ?, ?
     FROM feature_requests WHERE ",
            $of
        )
    };
}
pub(crate) use inserted_events;
