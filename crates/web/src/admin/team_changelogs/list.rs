//! The list of changelogs, and the page that asks before one is deleted.

use std::rc::Rc;

use askama::Template;
use roadmap_domain::model::changelog::Changelog;
use roadmap_domain::model::id::ChangelogId;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::usecase::change_changelog::DeleteChangelog;
use roadmap_domain::usecase::query::changelogs::{ListChangelogs, ShowChangelog};

use super::{PATH, State, path};
use crate::admin::{self, Entry};
use crate::context::Context;
use crate::form::Fields;
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::portal::parts::Pager;
use crate::reply::{PageResult, Reply};

/// The last page of the list.
const MAX_PAGE: u64 = 10_000;

#[derive(Template)]
#[template(path = "admin/changelogs.html")]
struct ListTemplate {
    page: Page,
    rows: Vec<Row>,
    /// Whether there is no changelog at all.
    is_empty: bool,
    pager: Option<Pager>,
}

/// A changelog in the list.
struct Row {
    title: String,
    path: String,
    state: State,
}

#[derive(Template)]
#[template(path = "admin/changelog-delete.html")]
struct DeleteTemplate {
    page: Page,
    path: String,
    is_published: bool,
}

/// `GET /admin/changelogs`.
pub(crate) async fn list(context: Rc<Context>) -> PageResult {
    let (t, now) = (context.text(), context.state.http.clock.now());
    let page = admin::frame(&context, Entry::Changelogs, t.get("admin-changelogs")).await?;
    let request =
        PageRequest::parse(Some(context.query.get("page")), None).or_else(|_| PageRequest::parse(None, None))?;
    let listing = context.run(&ListChangelogs { page: request }).await?;
    let row = |changelog: &Changelog| Row {
        title: changelog.title.as_str().to_owned(),
        path: path(changelog.id),
        state: State::new(t, changelog, now),
    };
    let at = |page: u64| if page == 1 { PATH.to_owned() } else { format!("{PATH}?page={page}") };
    let pager = Pager::new(t, &listing, MAX_PAGE, at);
    let rows = listing.items.iter().map(row).collect();
    Ok(Reply::page(&ListTemplate { page, rows, is_empty: listing.total == 0, pager }))
}

/// `GET /admin/changelogs/{id}/delete`.
pub(crate) async fn ask_delete(context: Rc<Context>) -> PageResult {
    let id = admin::path_id(&context, ChangelogId::new)?;
    let Changelog { title, public_from, .. } = context.run(&ShowChangelog { changelog: Some(id) }).await?.changelog;
    let heading = context.text().named("changelog-delete-title", title.as_str());
    let page = admin::frame(&context, Entry::Changelogs, heading).await?;
    let is_published = public_from.is_some_and(|at| at <= context.state.http.clock.now());
    Ok(Reply::page(&DeleteTemplate { page, path: path(id), is_published }))
}

/// `POST /admin/changelogs/{id}/delete`.
pub(crate) async fn delete(context: Rc<Context>, fields: Fields) -> PageResult {
    let changelog = admin::path_id(&context, ChangelogId::new)?;
    let landing = |()| format!("{PATH}?done=changelog-deleted");
    run_once(&context, &fields, DeleteChangelog { changelog }, landing).await
}

#[cfg(test)]
mod tests {
    use super::super::tests::detail;
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page};
    use crate::text::Text;
    use roadmap_domain::model::portal::Language;

    #[test]
    fn the_list_and_the_page_that_asks_are_well_formed() {
        for language in Language::ALL {
            let t = Text::utc(language);
            let row = |public_from| Row {
                title: "Undo <send>".to_owned(),
                path: PATH.to_owned(),
                state: State::new(t, &detail("a", public_from).changelog, at(2)),
            };
            for (rows, is_empty) in
                [(vec![row(None), row(Some(at(1))), row(Some(at(9)))], false), (Vec::new(), false), (Vec::new(), true)]
            {
                let page = sample_page(language, true, "Changelog");
                assert_well_formed(&ListTemplate { page, rows, is_empty, pager: None }.render().unwrap());
            }
            for is_published in [false, true] {
                let page = sample_page(language, true, "Delete “<b>”?");
                assert_well_formed(&DeleteTemplate { page, path: PATH.to_owned(), is_published }.render().unwrap());
            }
        }
    }
}
