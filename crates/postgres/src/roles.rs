//! The login and the role of the service: whether they exist, and which excess privileges they have.
//!
//! An administrator creates both (docs/operations.md). A login that may create roles creates the role itself, which
//! suits a disposable server: before version 16, it can also make itself a member of any role that is not a superuser,
//! and so run programs on the server's machine (`pg_execute_server_program`).

use diesel::QueryableByName;
use diesel::sql_types::{Bool, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use roadmap_domain::error::StoreError;

use crate::PostgresOptions;
use crate::login::{inspect, map_error};

/// A problem with the roles that an administrator should fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleProblem {
    pub found: String,
    /// The fix: SQL, as far as SQL suffices.
    pub fix: String,
}

/// The problems of the login and the role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleProblems {
    /// The role does not exist or the login is not a member of it, and `roadmap migrate` cannot change that.
    pub missing: Option<RoleProblem>,
    /// Privileges that they have and the service does not need.
    pub excess: Vec<RoleProblem>,
}

/// Inspects the login and the role without changing them.
///
/// # Errors
/// The database cannot be reached, or does not respond in time.
pub async fn role_problems(options: &PostgresOptions) -> Result<RoleProblems, StoreError> {
    inspect(options, async |connection| {
        let setup = RoleSetup::load(connection, &options.role).await?;
        let missing = setup.problem(&options.role).filter(|_| !setup.may_create);
        Ok(RoleProblems { missing, excess: excess(connection, &options.role).await? })
    })
    .await
}

/// The privilege that a login needs to switch to a role. Since version 16, a member may lack it, as the creator of a
/// role does.
const MEMBERSHIP: &str =
    "CASE WHEN current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER' END";

#[derive(QueryableByName)]
struct RoleSetup {
    /// The login, quoted for SQL.
    #[diesel(sql_type = Text)]
    login: String,
    #[diesel(sql_type = Bool)]
    may_create: bool,
    #[diesel(sql_type = Bool)]
    role_exists: bool,
    #[diesel(sql_type = Bool)]
    is_member: bool,
}

impl RoleSetup {
    async fn load(connection: &mut AsyncPgConnection, role: &str) -> Result<Self, StoreError> {
        let setup = format!(
            "SELECT quote_ident(rolname) AS login, rolsuper OR rolcreaterole AS may_create,
                    EXISTS (SELECT FROM pg_roles WHERE rolname = $1) AS role_exists,
                    coalesce((SELECT pg_has_role(role.oid, {MEMBERSHIP}) FROM pg_roles AS role
                              WHERE rolname = $1), false) AS is_member
             FROM pg_roles WHERE rolname = current_user"
        );
        diesel::sql_query(setup).bind::<Text, _>(role).get_result(connection).await.map_err(map_error)
    }

    fn problem(&self, role: &str) -> Option<RoleProblem> {
        let login = &self.login;
        let grant = format!("GRANT {role} TO {login};");
        match self {
            Self { role_exists: false, .. } => Some(RoleProblem {
                found: format!("there is no role {role}"),
                fix: format!("CREATE ROLE {role} NOLOGIN; {grant}"),
            }),
            Self { is_member: false, .. } => {
                Some(RoleProblem { found: format!("the login {login} is no member of the role {role}"), fix: grant })
            }
            _ => None,
        }
    }
}

/// Creates the role and makes the login a member of it, if necessary. If the login may not do so, the error contains
/// the SQL for an administrator.
///
/// Roles belong to all databases of a server, and the migration lock to this one only. Another process may do the same
/// at the same time; the second one finds it done.
pub(crate) async fn ensure_role(connection: &mut AsyncPgConnection, role: &str) -> Result<(), StoreError> {
    let setup = RoleSetup::load(connection, role).await?;
    let Some(RoleProblem { found, fix }) = setup.problem(role) else { return Ok(()) };
    let login = &setup.login;
    let refused = |why: String| StoreError::Fatal(format!("{found}, and {why}. An administrator runs: {fix}").into());
    if !setup.may_create {
        return Err(refused(format!("the login {login} may not change that")));
    }
    let create = format!(
        "DO $$
         BEGIN
             IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN
                 BEGIN
                     CREATE ROLE {role} NOLOGIN;
                 EXCEPTION WHEN duplicate_object OR unique_violation THEN
                     NULL;
                 END;
             END IF;
             IF NOT pg_has_role(current_user, '{role}', {MEMBERSHIP}) THEN
                 BEGIN
                     GRANT {role} TO {login};
                 EXCEPTION WHEN duplicate_object OR unique_violation THEN
                     NULL;
                 END;
             END IF;
         END $$"
    );
    connection
        .batch_execute(&create)
        .await
        .map_err(|error| refused(format!("the login {login} could not change that ({error})")))
}

/// Selects all roles that the login and the service's role are, or can become, each with its attributes and the member
/// that it was granted to. Roles beyond a predefined role are not followed.
const POWERS: &str = "
    WITH RECURSIVE start AS (
        SELECT oid FROM pg_roles WHERE rolname IN (session_user, $1)
    ), reachable (role, member) AS (
        SELECT oid, NULL::oid FROM start
        UNION
        SELECT roleid, pg_auth_members.member FROM reachable
        JOIN pg_roles ON pg_roles.oid = reachable.role AND NOT rolsuper AND rolname !~ '^pg_'
        JOIN pg_auth_members ON pg_auth_members.member = reachable.role
        WHERE roleid NOT IN (SELECT oid FROM start)
    )
    SELECT quote_ident(pg_roles.rolname) AS role, quote_ident(members.rolname) AS member,
           pg_roles.rolname ~ '^pg_' AS is_predefined, pg_roles.rolsuper AS is_superuser,
           pg_roles.rolcreaterole AS can_create_roles, pg_roles.rolcreatedb AS can_create_databases,
           pg_roles.rolreplication AS can_replicate
    FROM reachable JOIN pg_roles ON pg_roles.oid = reachable.role
    LEFT JOIN pg_roles AS members ON members.oid = reachable.member
    ORDER BY member NULLS FIRST, role";

#[derive(QueryableByName)]
struct Power {
    #[diesel(sql_type = Text)]
    role: String,
    /// The member that it was granted to; `None` for the login and the service's role themselves.
    #[diesel(sql_type = Nullable<Text>)]
    member: Option<String>,
    #[diesel(sql_type = Bool)]
    is_predefined: bool,
    #[diesel(sql_type = Bool)]
    is_superuser: bool,
    #[diesel(sql_type = Bool)]
    can_create_roles: bool,
    #[diesel(sql_type = Bool)]
    can_create_databases: bool,
    #[diesel(sql_type = Bool)]
    can_replicate: bool,
}

impl Power {
    fn problem(&self) -> Option<RoleProblem> {
        let role = &self.role;
        let attributes = [
            (self.can_create_roles, "CREATEROLE"),
            (self.can_create_databases, "CREATEDB"),
            (self.can_replicate, "REPLICATION"),
        ];
        let attributes: Vec<&str> = attributes.into_iter().filter(|(has, _)| *has).map(|(_, name)| name).collect();
        let (found, fix) = match &self.member {
            None if self.is_superuser => (
                format!("{role} is a superuser"),
                "create a login that is not a superuser, as docs/operations.md (PostgreSQL) describes, let it own the \
                 database and its tables, and use it in database_url"
                    .to_owned(),
            ),
            None if attributes.is_empty() => return None,
            None => {
                let without: Vec<String> = attributes.iter().map(|attribute| format!("NO{attribute}")).collect();
                (format!("{role} has {}", attributes.join(", ")), format!("ALTER ROLE {role} {};", without.join(" ")))
            }
            Some(member) => {
                let what = match self {
                    Self { is_superuser: true, .. } => ", which is a superuser".to_owned(),
                    Self { is_predefined: true, .. } => String::new(),
                    _ if attributes.is_empty() => return None,
                    _ => format!(", which has {}", attributes.join(", ")),
                };
                (format!("{member} is a member of {role}{what}"), format!("REVOKE {role} FROM {member};"))
            }
        };
        Some(RoleProblem { found, fix })
    }
}

async fn excess(connection: &mut AsyncPgConnection, role: &str) -> Result<Vec<RoleProblem>, StoreError> {
    let powers: Vec<Power> =
        diesel::sql_query(POWERS).bind::<Text, _>(role).load(connection).await.map_err(map_error)?;
    let audit_log: AuditLogAccess =
        diesel::sql_query(AUDIT_LOG_ACCESS).bind::<Text, _>(role).get_result(connection).await.map_err(map_error)?;
    Ok(powers.iter().filter_map(Power::problem).chain(audit_log.problem()).collect())
}

/// Selects whether the service's role may change or delete entries of the audit log. It may not if there is no such role
/// or table yet.
const AUDIT_LOG_ACCESS: &str = "
    SELECT quote_ident($1) AS role, EXISTS (
        SELECT FROM pg_roles WHERE rolname = $1
        AND has_table_privilege(oid, to_regclass('audit_entries'), 'UPDATE, DELETE, TRUNCATE')
    ) AS can_rewrite";

#[derive(QueryableByName)]
struct AuditLogAccess {
    #[diesel(sql_type = Text)]
    role: String,
    #[diesel(sql_type = Bool)]
    can_rewrite: bool,
}

impl AuditLogAccess {
    fn problem(&self) -> Option<RoleProblem> {
        let role = &self.role;
        self.can_rewrite.then(|| RoleProblem {
            found: format!("{role} can change or delete entries of the audit log"),
            fix: format!("REVOKE UPDATE, DELETE, TRUNCATE ON audit_entries FROM {role};"),
        })
    }
}
