//! What the service relies on, looked at once before it starts.

use diesel::QueryableByName;
use diesel::sql_types::{Array, Bool, Text};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;

use crate::PostgresOptions;
use crate::connection::APPLICATION_NAME;
use crate::pool::Pool;
use crate::session::{NO_WORKSPACE, Session};

/// The role of a session, what it could do beyond its job, and its settings, times in milliseconds.
const INSPECT: &str = "
    SELECT current_user::text AS role,
           (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user) AS above_rules,
           EXISTS (SELECT FROM pg_class WHERE relnamespace = current_schema()::regnamespace
                   AND pg_has_role(current_user, relowner, 'USAGE')) AS owner,
           EXISTS (SELECT FROM pg_class JOIN pg_policy ON polrelid = pg_class.oid
                   WHERE relnamespace = current_schema()::regnamespace AND NOT relrowsecurity) AS open,
           ARRAY(SELECT setting FROM unnest(ARRAY[
               'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout',
               'application_name', 'synchronous_commit', 'fsync'
           ]) WITH ORDINALITY AS asked (name, place) JOIN pg_settings USING (name) ORDER BY place) AS settings";

#[derive(QueryableByName)]
struct Inspected {
    #[diesel(sql_type = Text)]
    role: String,
    #[diesel(sql_type = Bool)]
    above_rules: bool,
    #[diesel(sql_type = Bool)]
    owner: bool,
    #[diesel(sql_type = Bool)]
    open: bool,
    #[diesel(sql_type = Array<Text>)]
    settings: Vec<String>,
}

/// Returns whether the server waits for its disk. Fails when a connection of the pool is not what the service relies on: a pooler in between may
/// have dropped the settings, or an operator given the role too much.
pub(crate) async fn connection(pool: &Pool, options: &PostgresOptions) -> Result<bool, StoreError> {
    let session = Session::reading(pool, NO_WORKSPACE).await?;
    let inspect = diesel::sql_query(INSPECT);
    let inspected: Inspected = session.run(inspect.get_result(&mut session.connection()?)).await?;
    let Inspected { role, above_rules, owner, open, settings } = inspected;
    let refused = |what: String| Err(StoreError::Fatal(what.into()));
    if role != options.role {
        return refused(format!("the connection works under the role {role}, and was asked to under {}", options.role));
    }
    if above_rules {
        return refused(format!("the role {role} is a superuser or bypasses row-level security; it must not"));
    }
    if owner {
        return refused(format!(
            "the role {role} owns tables, or is a member of the role that does, so that row-level security does not apply to it"
        ));
    }
    if open && options.row_security {
        return refused("row-level security is off on some tables; `roadmap migrate` switches it on".to_owned());
    }
    let statement_timeout = options.statement_timeout.as_millis().to_string();
    let lock_timeout = options.lock_timeout().as_millis().to_string();
    let asked = [
        ("statement_timeout", statement_timeout.as_str()),
        ("lock_timeout", lock_timeout.as_str()),
        ("idle_in_transaction_session_timeout", statement_timeout.as_str()),
        ("application_name", APPLICATION_NAME),
        ("synchronous_commit", "on"),
    ];
    let mut found = settings.iter().map(String::as_str);
    for (name, asked) in asked {
        let found = found.next().unwrap_or_default();
        if found != asked {
            return refused(format!("{name} is {found} on the connection, and was asked to be {asked}"));
        }
    }
    Ok(found.next() == Some("on"))
}
