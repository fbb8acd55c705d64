//! The API key of the caller.

use roadmap_domain::model::api_key::Credential;
use serde::Serialize;
use utoipa::ToSchema;

/// The key of the request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ApiKeyShown)]
pub(crate) struct Response<'a> {
    api_key: Fields<'a>,
}

/// An API key.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ApiKey)]
pub(crate) struct Fields<'a> {
    #[schema(format = "uuid")]
    id: String,
    #[schema(min_length = 1, max_length = 200)]
    name: &'a str,
    /// The last four characters of the key.
    #[schema(min_length = 4, max_length = 4)]
    last_four: &'a str,
    #[schema(value_type = Vec<ScopeName>)]
    scopes: Vec<&'static str>,
    /// Null if it does not expire.
    #[schema(format = DateTime, required = true)]
    expires_at: Option<String>,
    workspace: Workspace<'a>,
}

/// A scope of an API key.
#[derive(ToSchema)]
#[schema(as = Scope, rename_all = "lowercase")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum ScopeName {
    Read,
    Write,
    Manage,
}

/// The workspace of an API key.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Workspace<'a> {
    #[schema(format = "uuid")]
    id: String,
    #[schema(min_length = 1, max_length = 63)]
    subdomain: &'a str,
    #[schema(format = "uri")]
    base_url: String,
}

pub(crate) fn response(Credential { workspace, key }: &Credential, base_url: String) -> impl Serialize {
    Response {
        api_key: Fields {
            id: key.id.to_string(),
            name: key.name.as_str(),
            last_four: &key.last_four,
            scopes: key.scopes.names(),
            expires_at: key.expires_at.map(|at| at.to_string()),
            workspace: Workspace { id: workspace.id.to_string(), subdomain: workspace.subdomain.as_str(), base_url },
        },
    }
}
