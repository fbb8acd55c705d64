//! Statements written in SQL, which diesel's query builder cannot express.

/// Declares a statement: its parameters, which the SQL names in braces, and the types of the columns that it returns.
///
/// The statement is prepared once per connection. Diesel's own `sql_query` would plan it again at every execution.
macro_rules! statement {
    (
        $(#[$doc:meta])*
        $name:ident { $($field:ident: $rust:ty => $sql_type:ty),* $(,)? } -> $row:ty,
        $sql:expr
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub(crate) struct $name {
            $(pub(crate) $field: $rust,)*
        }

        impl diesel::query_builder::QueryFragment<diesel::pg::Pg> for $name {
            fn walk_ast<'b>(
                &'b self,
                mut out: diesel::query_builder::AstPass<'_, 'b, diesel::pg::Pg>,
            ) -> diesel::QueryResult<()> {
                let mut rest: &str = $sql;
                while let Some((before, behind)) = rest.split_once('{') {
                    out.push_sql(before);
                    let (parameter, behind) = behind.split_once('}').unwrap_or((behind, ""));
                    match parameter {
                        $(stringify!($field) => out.push_bind_param::<$sql_type, _>(&self.$field)?,)*
                        unknown => {
                            let problem = format!("the statement has no parameter {unknown}");
                            return Err(diesel::result::Error::QueryBuilderError(problem.into()));
                        }
                    }
                    rest = behind;
                }
                out.push_sql(rest);
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
    };
}
pub(crate) use statement;

/// The SQL expression of a note's or comment's author, in a statement with the parameter `workspace`: the member with
/// the address in the given parameter, else the oldest member.
macro_rules! author {
    ($address:literal) => {
        concat!(
            "coalesce(
                (SELECT id FROM members WHERE workspace_id = {workspace} AND email_folded = ",
            $address,
            "),
                (SELECT id FROM members WHERE workspace_id = {workspace} ORDER BY created_at, id LIMIT 1))"
        )
    };
}
pub(crate) use author;
