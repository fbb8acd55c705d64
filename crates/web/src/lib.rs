//! The pages for people: the public portal of a workspace and the admin panel of its team, a thin layer on actix-web and the HTTP core
//! ([`roadmap_http`]).
//!
//! Every page is a struct with an askama template. It works without JavaScript: all changes are forms, all filters are
//! links. A request passes these steps:
//!
//! 1. `routes`: the path and the method. The table of `routes` is the only list of pages.
//! 2. `context`: the workspace of the host, the portal's settings, the session, the language and the theme. A request
//!    to another host than the canonical one is redirected. A form from another origin is refused (`origin`). Without a
//!    workspace, `base_host` decides.
//! 3. A handler in `portal` or `admin` runs queries and commands, and returns a `Reply`.
//! 4. `reply`: headers, `ETag` and compression. `problem` renders errors as pages.
//!
//! Invariants: no text of the pages outside of `locales`, no HTML outside of `templates`, no inline style or script, no
//! change of data on a GET, except the entry of the audit log about the download of a person's data.

mod actions;
mod admin;
mod assets;
mod base_host;
mod brand;
mod context;
mod cookies;
mod digest;
mod document;
mod form;
mod gzip;
mod known_browser;
mod notices;
mod once;
mod origin;
mod page;
mod person;
mod pictures;
mod portal;
mod problem;
mod prose;
mod reply;
mod routes;
mod state;
mod text;
mod theme;

pub use problem::FORMAT as ERROR_FORMAT;
pub use reply::PageCache;
pub use routes::{configure, unknown_path};
pub use state::State;
