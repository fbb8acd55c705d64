//! What all pages have in common: the frame with header, navigation and footer.

use std::sync::Arc;

use roadmap_domain::model::member::Role;
use roadmap_domain::model::portal::{Language, Portal};
use roadmap_domain::model::session::Session;
use roadmap_domain::model::sign_in::LocalPath;
use roadmap_domain::usecase::query::portal::image_path;

use crate::actions::without_parameter;
use crate::assets::Assets;
use crate::brand::{self, LetterLogo};
use crate::context::Context;
use crate::portal::previews;
use crate::text::Text;
use crate::theme::Theme;

/// The entries of the main navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nav {
    Roadmap,
    /// The list of feature requests, and their pages.
    Requests,
    Changelog,
    /// The admin panel.
    Admin,
    /// The account, or signing in.
    Account,
    /// None of them.
    Other,
}

/// The navigation of the admin panel.
#[derive(Debug, Clone)]
pub(crate) struct AdminNav {
    /// The pages that the member may open.
    pub(crate) entries: Vec<NavEntry>,
}

/// A page in the navigation of the admin panel.
#[derive(Debug, Clone)]
pub(crate) struct NavEntry {
    pub(crate) path: &'static str,
    /// The key of its name.
    pub(crate) key: &'static str,
    /// Whether it is this page, or one below it.
    pub(crate) is_current: bool,
    /// Whether it is the first of a group.
    pub(crate) begins_group: bool,
    /// What waits there: a number, and the same in words.
    pub(crate) count: Option<(String, String)>,
}

/// The form that takes back what a member has just done, beside the notice about it.
#[derive(Debug, Clone)]
pub(crate) struct Undo {
    /// When it was done, in milliseconds since 1970.
    pub(crate) at: String,
    /// The path to which the form leads back.
    pub(crate) next: String,
}

/// An Atom feed of a page.
#[derive(Debug, Clone)]
pub(crate) struct Feed {
    pub(crate) title: String,
    pub(crate) path: String,
}

/// The frame of a page. Templates read its fields.
#[derive(Clone)]
pub(crate) struct Page {
    pub(crate) t: Text,
    /// The title of the page, without the name of the product.
    pub(crate) title: String,
    /// Whether the title alone is the whole title.
    pub(crate) is_title_whole: bool,
    /// Whether a form on the page has problems.
    pub(crate) has_problem: bool,
    /// The current entry of the navigation.
    pub(crate) nav: Nav,
    /// The settings of the portal.
    pub(crate) portal: Arc<Portal>,
    /// The session, if somebody is signed in.
    pub(crate) session: Option<Arc<Session>>,
    pub(crate) theme: Theme,
    /// The canonical URL.
    pub(crate) canonical: Option<String>,
    /// The origin of the workspace.
    pub(crate) origin: String,
    /// The path and the query of this page, where forms lead back to. Without a query that no form would accept.
    pub(crate) here: String,
    /// The description for search engines and previews of links.
    pub(crate) description: Option<String>,
    /// The URL of an image for previews of links, if everybody may see the portal.
    pub(crate) image: Option<String>,
    /// Whether search engines may list the page.
    pub(crate) is_indexed: bool,
    pub(crate) feeds: Vec<Feed>,
    /// Whether the keyboard shortcuts are switched on.
    pub(crate) has_shortcuts: bool,
    /// The navigation of the admin panel, on its pages.
    pub(crate) admin: Option<AdminNav>,
    /// Whether the page warns that nobody gets mail.
    pub(crate) lacks_mail_server: bool,
    /// What the last action has done.
    pub(crate) notice: Option<String>,
    /// How that can be taken back.
    pub(crate) undo: Option<Undo>,
    /// Whether it asks for the name of somebody who has just taken part without one.
    pub(crate) asks_name: bool,
    /// The paths of the assets.
    pub(crate) assets: &'static Assets,
    /// The operation key of the page's forms, if somebody is signed in: a form that is sent twice does one thing.
    pub(crate) operation_key: Option<String>,
}

/// The parameter with the tag number of the feature request in a list that the last action was about.
pub(crate) const ROW: &str = "row";

/// What somebody has done before a page asks for the name.
const TAKING_PART: [&str; 6] = ["voted", "commented", "comment-held", "submitted", "idea-held", "subscribed"];

/// Whether a page asks for the name: of a customer without one who has just signed in and taken part. Members have names.
fn asks_name(context: &Context) -> bool {
    let Some(session) = context.session.as_deref() else { return false };
    let is_unnamed = session.customer.as_ref().is_some_and(|customer| customer.name.is_none());
    is_unnamed
        && context.has_fresh_sign_in()
        && session.member.is_none()
        && TAKING_PART.contains(&context.query.get("done"))
}

impl Page {
    /// Creates the frame of a page.
    pub(crate) fn new(context: &Context, nav: Nav, title: impl Into<String>) -> Self {
        let here = context.path_and_query();
        let here = if here.len() > LocalPath::MAX { context.request.path().to_owned() } else { here };
        Self {
            t: context.text(),
            title: title.into(),
            is_title_whole: false,
            has_problem: false,
            nav,
            portal: context.portal.clone(),
            session: context.session.clone(),
            theme: context.theme,
            canonical: None,
            origin: context.links.portal().to_owned(),
            here,
            description: None,
            // Programs that show previews do not sign in.
            image: context.is_public().then(|| context.links.page(previews::PATH)),
            is_indexed: context.portal.settings.is_indexed,
            feeds: Vec::new(),
            has_shortcuts: context.session.as_ref().is_some_and(|session| session.has_shortcuts),
            admin: None,
            lacks_mail_server: false,
            notice: context.notice(),
            undo: None,
            asks_name: asks_name(context),
            assets: Assets::get(),
            operation_key: context.new_operation_key(),
        }
    }

    /// Sets the canonical path, and with it that search engines may list the page.
    pub(crate) fn canonical(mut self, path: &str) -> Self {
        self.canonical = Some(format!("{}{path}", self.origin));
        self
    }

    /// Keeps the page out of search engines.
    pub(crate) fn not_indexed(self) -> Self {
        Self { is_indexed: false, ..self }
    }

    /// Marks that a form of the page has problems.
    pub(crate) fn with_problem(self, has_problem: bool) -> Self {
        Self { has_problem, ..self }
    }

    /// Returns the path of this page that leads back to a row of its list, beside which it says what was done.
    pub(crate) fn row_path(&self, number: i64) -> String {
        let path = without_parameter(&without_parameter(&self.here, "done"), ROW);
        let separator = if path.contains('?') { '&' } else { '?' };
        format!("{path}{separator}{ROW}={number}#request-{number}")
    }

    /// Returns the text of the `title` element.
    pub(crate) fn whole_title(&self) -> String {
        let product = self.product();
        let title = match self.is_title_whole {
            true => self.title.clone(),
            false => format!("{} · {product}", self.title),
        };
        if self.has_problem { self.t.named("error-title", &title) } else { title }
    }

    /// Whether the page is shown to a member of the team.
    pub(crate) fn is_for_team(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.member.is_some())
    }

    /// Whether the page is shown to an admin of the team.
    pub(crate) fn is_for_admin(&self) -> bool {
        let member = self.session.as_ref().and_then(|session| session.member.as_ref());
        member.is_some_and(|member| member.role == Role::Admin)
    }

    /// Returns the name of the product.
    pub(crate) fn product(&self) -> &str {
        self.portal.setting.product_name.as_str()
    }

    /// Returns the website of the product.
    pub(crate) fn website(&self) -> &str {
        self.portal.setting.website_url.as_str()
    }

    /// Returns the host of the website, as its name.
    pub(crate) fn website_name(&self) -> &str {
        let host = self.website().split_once("//").map_or("", |(_, rest)| rest);
        host.split(['/', '?', '#']).next().unwrap_or_default()
    }

    /// Returns the path of the stylesheet with the accent colour.
    pub(crate) fn brand(&self) -> Option<String> {
        self.portal.settings.accent.map(brand::path)
    }

    /// Returns the path of the logo, if the workspace has uploaded one.
    pub(crate) fn logo(&self) -> Option<String> {
        self.portal.logo.as_ref().map(image_path)
    }

    /// Returns the path of the image that is shown if there is no logo.
    pub(crate) fn letter_logo(&self) -> String {
        LetterLogo::of_portal(&self.portal).path()
    }

    /// Returns the languages of the portal.
    pub(crate) fn languages(&self) -> &[Language] {
        &self.portal.settings.languages
    }

    /// Returns the themes.
    pub(crate) fn themes(&self) -> &'static [Theme] {
        &Theme::ALL
    }

    /// Returns the path to sign in and to come back here.
    pub(crate) fn sign_in_path(&self) -> String {
        sign_in_path(&self.here)
    }
}

/// Returns the path to sign in and to go on at a path, if that is not too long.
pub(crate) fn sign_in_path(next: &str) -> String {
    if next.len() > LocalPath::MAX {
        return "/sign-in".to_owned();
    }
    format!("/sign-in?next={}", encoded(next))
}

/// Returns a text as the value of a parameter.
pub(crate) fn encoded(value: &str) -> String {
    url::form_urlencoded::byte_serialize(value.as_bytes()).collect()
}
