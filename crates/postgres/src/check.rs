//! Verifies the role and the settings of connections once before the service starts.

use diesel::QueryableByName;
use diesel::sql_types::{Array, Bool, Text};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;

use crate::PostgresOptions;
use crate::connection::APPLICATION_NAME;
use crate::pool::Pool;
use crate::session::{NO_WORKSPACE, Session};

/// Selects the role of a session, its excess privileges, and its settings, with times in milliseconds.
const INSPECT: &str = "
    SELECT current_user::text AS role,
           (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user) AS above_rules,
           EXISTS (SELECT FROM pg_class WHERE relnamespace = current_schema()::regnamespace
                   AND pg_has_role(current_user, relowner, 'USAGE')) AS owner,
           EXISTS (SELECT FROM pg_class JOIN pg_policy ON polrelid = pg_class.oid
                   WHERE relnamespace = current_schema()::regnamespace AND NOT relrowsecurity) AS open,
           -- Translated like the messages of errors.
           (SELECT category FROM pg_settings WHERE name = 'deadlock_timeout') AS category,
           current_setting('lc_messages') AS language,
           session_user::text AS login,
           ARRAY(SELECT setting FROM unnest(ARRAY[
               'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout',
               'application_name', 'synchronous_commit', 'default_transaction_isolation', 'fsync'
           ]) WITH ORDINALITY AS asked (name, place) JOIN pg_settings USING (name) ORDER BY place) AS settings";

#[derive(QueryableByName)]
struct SessionProperties {
    #[diesel(sql_type = Text)]
    role: String,
    #[diesel(sql_type = Bool)]
    above_rules: bool,
    #[diesel(sql_type = Bool)]
    owner: bool,
    #[diesel(sql_type = Bool)]
    open: bool,
    #[diesel(sql_type = Text)]
    category: String,
    #[diesel(sql_type = Text)]
    language: String,
    #[diesel(sql_type = Text)]
    login: String,
    #[diesel(sql_type = Array<Text>)]
    settings: Vec<String>,
}

/// The category of a setting about locks, in English.
const ENGLISH_CATEGORY: &str = "Lock Management";

/// Verifies the role and the settings of the pool's connections. Returns whether the server is durable (`fsync`).
///
/// Fails, for example, if a pooler in between has dropped the settings, or an operator has granted the role too much.
pub(crate) async fn verify_connection(pool: &Pool, options: &PostgresOptions) -> Result<bool, StoreError> {
    let session = Session::autocommit(pool, NO_WORKSPACE).await?;
    let inspect = diesel::sql_query(INSPECT);
    let inspected: SessionProperties = session.run(inspect.get_result(&mut session.connection()?)).await?;
    verify(&inspected, options).map_err(|problem| StoreError::Fatal(problem.into()))
}

fn verify(inspected: &SessionProperties, options: &PostgresOptions) -> Result<bool, String> {
    let SessionProperties { role, above_rules, owner, open, category, language, login, settings } = inspected;
    let refused = Err;
    if *role != options.role {
        return refused(format!("the connection uses the role {role} instead of {}", options.role));
    }
    if *above_rules {
        return refused(format!("the role {role} is a superuser or bypasses row-level security; it must not"));
    }
    if *owner {
        return refused(format!(
            "the role {role} owns tables, or is a member of the role that does, so that row-level security does not apply to it"
        ));
    }
    if *open && options.row_security {
        return refused("row-level security is off on some tables; `roadmap migrate` switches it on".to_owned());
    }
    // Diesel drops the SQLSTATE of most errors, so that `errors.rs` reads their messages.
    if category != ENGLISH_CATEGORY {
        return refused(format!(
            "the messages of the server are not in English (lc_messages is {language}), and the service would take conflicts \
             and full disks for defects. An administrator runs: ALTER ROLE {login} SET lc_messages = 'C';"
        ));
    }
    let statement_timeout = options.statement_timeout.as_millis().to_string();
    let lock_timeout = options.lock_timeout().as_millis().to_string();
    let expected = [
        ("statement_timeout", statement_timeout.as_str()),
        ("lock_timeout", lock_timeout.as_str()),
        ("idle_in_transaction_session_timeout", statement_timeout.as_str()),
        ("application_name", APPLICATION_NAME),
        ("synchronous_commit", "on"),
        ("default_transaction_isolation", "read committed"),
    ];
    let mut values = settings.iter().map(String::as_str);
    for (name, expected) in expected {
        let value = values.next().unwrap_or_default();
        if value != expected {
            return refused(format!("{name} is {value} on the connection instead of {expected}"));
        }
    }
    Ok(values.next() == Some("on"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_with_another_role_or_other_settings_is_rejected() {
        let options = PostgresOptions::new("postgres://localhost/roadmap");
        let settings = ["2000", "1500", "2000", "roadmap", "on", "read committed", "off"];
        let inspected = |setting: usize, value: &str| SessionProperties {
            role: "roadmap_service".to_owned(),
            above_rules: false,
            owner: false,
            open: false,
            category: "Lock Management".to_owned(),
            language: "C".to_owned(),
            login: "roadmap".to_owned(),
            settings: settings
                .iter()
                .enumerate()
                .map(|(place, usual)| if place == setting { value } else { usual }.to_owned())
                .collect(),
        };
        assert_eq!(verify(&inspected(6, "off"), &options), Ok(false));
        assert_eq!(verify(&inspected(6, "on"), &options), Ok(true));
        let (category, language) = ("Sperrenverwaltung".to_owned(), "de_DE.UTF-8".to_owned());
        let german = SessionProperties { category, language, ..inspected(6, "on") };
        let problem = verify(&german, &options).unwrap_err();
        assert!(problem.contains("(lc_messages is de_DE.UTF-8)"), "{problem}");
        assert!(problem.ends_with("ALTER ROLE roadmap SET lc_messages = 'C';"), "{problem}");
        for (setting, value, problem) in [
            (0, "0", "statement_timeout is 0 on the connection instead of 2000"),
            (1, "0", "lock_timeout is 0 on the connection instead of 1500"),
            (2, "0", "idle_in_transaction_session_timeout is 0 on the connection instead of 2000"),
            (3, "psql", "application_name is psql on the connection instead of roadmap"),
            (4, "off", "synchronous_commit is off on the connection instead of on"),
            (
                5,
                "serializable",
                "default_transaction_isolation is serializable on the connection instead of read committed",
            ),
        ] {
            assert_eq!(verify(&inspected(setting, value), &options), Err(problem.to_owned()));
        }
    }
}
