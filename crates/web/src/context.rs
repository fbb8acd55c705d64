//! What a request means, found out before its handler runs.

use std::borrow::Cow;
use std::sync::Arc;

use actix_web::http::Method;
use actix_web::http::header::{ACCEPT_LANGUAGE, REFERER, USER_AGENT};
use actix_web::{HttpRequest, web};
use roadmap_domain::model::audit::{Actor, Channel, Origin};
use roadmap_domain::model::base_url::HostTarget;
use roadmap_domain::model::portal::{Language, Noun, Portal, PortalAccess, Viewer};
use roadmap_domain::model::session::{BrowserName, Session};
use roadmap_domain::model::sign_in::LocalPath;
use roadmap_domain::model::workspace::Workspace;
use roadmap_domain::policy::links::Links;
use roadmap_domain::usecase::executor::Executor;
use roadmap_domain::usecase::query::Query;
use roadmap_domain::usecase::query::portal::{FindPortal, FindSession};
use roadmap_http::error::HttpError;
use roadmap_http::request_id::id_of;
use roadmap_http::workspace::workspace_of_host;

use crate::cookies::{self, LANGUAGE, Secret, THEME};
use crate::form::Fields;
use crate::notices;
use crate::origin;
use crate::pictures;
use crate::state::State;
use crate::text::{self, Text};
use crate::theme::Theme;

/// What a request means.
#[derive(Clone)]
pub(crate) struct Context {
    /// The dependencies.
    pub(crate) state: web::Data<State>,
    pub(crate) request: HttpRequest,
    /// The workspace of the host.
    pub(crate) workspace: Workspace,
    /// The settings of its portal.
    pub(crate) portal: Arc<Portal>,
    /// The session, if somebody is signed in.
    pub(crate) session: Option<Arc<Session>>,
    /// The language of the page.
    pub(crate) language: Language,
    /// The theme of the page.
    pub(crate) theme: Theme,
    /// The URLs of the workspace.
    pub(crate) links: Links,
    /// The parameters of the query.
    pub(crate) query: Fields,
}

/// Whether the portal is open to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entrance {
    /// It is.
    Open,
    /// Somebody must sign in first.
    SignIn,
    /// Somebody is signed in who may not see it.
    Closed,
}

impl Context {
    /// Finds out what a request means.
    ///
    /// # Errors
    /// 404 for an unknown host, 403 for a form of another origin, 503 when the store fails.
    pub(crate) async fn load(state: web::Data<State>, request: HttpRequest) -> Result<Self, HttpError> {
        let http = &state.http;
        let workspace = workspace_of_host(http, &request).await?;
        let links = Links::new(&http.base_url, &workspace.subdomain, workspace.id, http.references.clone());
        if !origin::is_allowed(request.method(), request.headers(), links.portal()) {
            return Err(HttpError::ForeignOrigin);
        }
        let portal = run(&state, &workspace, &FindPortal).await?;
        let session = match Secret::Session.read(&request, http.base_url.is_https()) {
            Some(secret) => run(&state, &workspace, &FindSession { digest: secret.digest() }).await?.map(Arc::new),
            None => None,
        };
        let query = Fields::parse(request.query_string().as_bytes());
        let language = language(&request, &query, session.as_deref(), &portal.settings.languages);
        let theme = Theme::from_value(cookies::value(&request, THEME).unwrap_or_default());
        Ok(Self { state, request, workspace, portal, session, language, theme, links, query })
    }

    /// Returns the URL to which a request to another host than the canonical one is redirected.
    pub(crate) fn canonical_redirect(&self) -> Option<String> {
        let is_read = matches!(*self.request.method(), Method::GET | Method::HEAD);
        let http = &self.state.http;
        let origin = http.proxies.origin(self.request.headers(), self.request.peer_addr()).ok()?;
        // The default workspace lives at the base host alone, every other one at its own.
        let is_default = http.default_workspace.as_ref() == Some(&self.workspace.subdomain);
        let is_canonical = match http.base_url.resolve_host(origin.host?) {
            HostTarget::Service => is_default,
            HostTarget::Workspace(_) => !is_default,
            HostTarget::Unknown => true,
        };
        (is_read && !is_canonical).then(|| self.links.page(&self.path_and_query()))
    }

    /// Whether the portal is open to this request.
    pub(crate) fn entrance(&self) -> Entrance {
        let settings = &self.portal.settings;
        match self.session.as_deref() {
            _ if self.is_public() => Entrance::Open,
            None => Entrance::SignIn,
            Some(session) if settings.admits(session.email.folded(), session.member.is_some()) => Entrance::Open,
            Some(_) => Entrance::Closed,
        }
    }

    /// Whether everybody may see the portal, so that programs can read its feeds and images.
    pub(crate) fn is_public(&self) -> bool {
        self.portal.settings.access == PortalAccess::Public
    }

    /// Returns the texts of the page. The panel has one word for feature requests, whatever visitors call them.
    pub(crate) fn text(&self) -> Text {
        let zone = self.portal.settings.time_zone;
        let noun = if self.request.path().starts_with("/admin") { Noun::default() } else { self.portal.settings.noun };
        Text { language: self.language, zone, year: zone.local(self.state.http.clock.now()).date().year(), noun }
    }

    /// Returns what the request may see.
    pub(crate) fn viewer(&self) -> Viewer {
        self.session.as_ref().map(|session| session.viewer()).unwrap_or_default()
    }

    /// Returns the path and the query of the request.
    pub(crate) fn path_and_query(&self) -> String {
        path_and_query(&self.request).to_owned()
    }

    /// Returns the path of the page whose form was sent: the `Referer` if it is a page of this workspace, or `/admin` or
    /// `/account`.
    pub(crate) fn origin_path(&self) -> String {
        let header = self.request.headers().get(REFERER).and_then(|header| header.to_str().ok());
        let path = header.and_then(|url| url.strip_prefix(self.links.portal())).and_then(LocalPath::parse);
        let area = if self.request.path().starts_with("/admin") { "/admin" } else { "/account" };
        path.map_or_else(|| area.to_owned(), |path| path.as_str().to_owned())
    }

    /// Whether the person has signed in lately, so that the forms for what cannot be undone are accepted.
    pub(crate) fn has_fresh_sign_in(&self) -> bool {
        let now = self.state.http.clock.now();
        self.session.as_ref().is_some_and(|session| session.is_fresh_at(now))
    }

    /// Returns a parameter of the path.
    pub(crate) fn parameter(&self, name: &str) -> &str {
        self.request.match_info().get(name).unwrap_or_default()
    }

    /// Returns the browser that sent the request.
    pub(crate) fn browser_name(&self) -> Option<BrowserName> {
        let header = self.request.headers().get(USER_AGENT)?.to_str().ok()?;
        BrowserName::of_user_agent(header.get(..500).unwrap_or(header))
    }

    /// Whether cookies are only sent over HTTPS.
    pub(crate) fn is_https(&self) -> bool {
        self.state.http.base_url.is_https()
    }

    /// Returns a new operation key for the forms of somebody who is signed in. Pages of visitors have none: caches share
    /// them, and two visitors would get one answer.
    pub(crate) fn new_operation_key(&self) -> Option<String> {
        let session = self.session.as_ref()?;
        let now = self.state.http.clock.now();
        Some(format!("web:{}:{}", session.id, self.state.http.ids.next(now)))
    }

    /// Returns the sentence about what the last action has done, by the parameter `done`. Anything unknown is ignored, and
    /// so are actions of the team unless a member looks.
    pub(crate) fn notice(&self) -> Option<String> {
        let count = |name: &str| self.query.get(name).parse::<i64>().ok().filter(|count| *count > 0);
        let linked = count(pictures::LINKED).map(|count| self.text().count("pictures-linked", count));
        let kept = count("kept").filter(|_| self.viewer().is_member).map(|count| self.text().count("undo-kept", count));
        let sentences: Vec<String> = self.notice_of_action().into_iter().chain(linked).chain(kept).collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }

    fn notice_of_action(&self) -> Option<String> {
        let (text, done) = (self.text(), self.query.get("done"));
        if done == "signed-in" && self.session.is_none() {
            // The browser has not sent the cookie that it has just got.
            return Some(text.get("cookies-needed").into_owned());
        }
        if !self.state.has_mail_server
            && let Some((_, key)) = notices::WRITTEN_MAIL.iter().find(|(name, _)| *name == done)
        {
            return self.viewer().is_member.then(|| text.get(key).into_owned());
        }
        let count = self.query.get("count").parse().unwrap_or(1);
        let of_team = || if self.viewer().is_member { notices::of_team(text, done, count) } else { None };
        notices::of_portal(text, done).map(Cow::into_owned).or_else(of_team)
    }

    /// Runs a query.
    ///
    /// # Errors
    /// A missing record is a missing page. Otherwise the errors of the query.
    pub(crate) async fn run<Q: Query>(&self, query: &Q) -> Result<Q::Output, HttpError> {
        run(&self.state, &self.workspace, query).await
    }

    /// Returns the executor for commands of the person who is signed in, or of a visitor.
    pub(crate) fn executor(&self) -> Executor {
        let actor = match self.session.as_deref() {
            Some(Session { member: Some(member), .. }) => Actor::member(member.id, &member.name),
            Some(Session { customer: Some(customer), .. }) => Actor::customer(customer.id),
            // Somebody who becomes a customer with this command, or asks for a link.
            _ => Actor { kind: roadmap_domain::model::audit::ActorKind::Customer, id: None, name: String::new() },
        };
        self.state.executor.acting_as(Origin { actor, channel: Channel::Page, request_id: id_of(&self.request) })
    }
}

/// Returns the path and the query of a request.
pub(crate) fn path_and_query(request: &HttpRequest) -> &str {
    request.uri().path_and_query().map_or("/", |target| target.as_str())
}

/// Runs a query for a page.
async fn run<Q: Query>(state: &State, workspace: &Workspace, query: &Q) -> Result<Q::Output, HttpError> {
    state.queries.run(workspace.id, query).await.map_err(HttpError::of_page)
}

/// Chooses the language: the parameter `lang`, the cookie, the account, the browser, the portal.
fn language(request: &HttpRequest, query: &Fields, session: Option<&Session>, offered: &[Language]) -> Language {
    let of_code = |code: &str| Language::from_code(code).filter(|language| offered.contains(language));
    let browser = || {
        let header = request.headers().get(ACCEPT_LANGUAGE)?.to_str().ok()?;
        text::negotiate(header, offered)
    };
    of_code(query.get("lang"))
        .or_else(|| of_code(cookies::value(request, LANGUAGE).unwrap_or_default()))
        .or_else(|| session.and_then(|session| session.language).filter(|language| offered.contains(language)))
        .or_else(browser)
        .or_else(|| offered.first().copied())
        .unwrap_or_default()
}
