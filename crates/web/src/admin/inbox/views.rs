//! Views of the inbox: those of the states, and those that a member has saved.

use std::rc::Rc;

use roadmap_domain::model::saved_view::{SavedView, SavedViews};
use roadmap_domain::usecase::query::admin::ListSavedViews;
use roadmap_domain::usecase::save_view::{RemoveView, SaveView};
use roadmap_http::error::HttpError;

use super::{Address, Bulk, PATH, render};
use crate::actions::with_done;
use crate::admin::member;
use crate::admin::request_form::refusal;
use crate::context::Context;
use crate::form::Fields;
use crate::once::run_once;
use crate::reply::PageResult;

/// The saved views of a member, and the form for one more.
#[derive(Debug, Default)]
pub(super) struct OwnViews {
    pub(super) views: Vec<OwnView>,
    /// Whether the list is one that can be saved: not the same as a view that is there.
    pub(super) can_save: bool,
    /// The name as typed, and what is wrong with it.
    pub(super) form: ViewForm,
}

/// A saved view.
#[derive(Debug)]
pub(super) struct OwnView {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) is_current: bool,
}

/// The form that saves a view.
#[derive(Debug, Default)]
pub(super) struct ViewForm {
    pub(super) name: String,
    pub(super) problem: Option<String>,
}

impl OwnViews {
    /// Loads the saved views of the member who is signed in.
    pub(super) async fn load(context: &Context, address: &Address, form: ViewForm) -> Result<Self, HttpError> {
        let (_, member) = member(context)?;
        let saved = context.run(&ListSavedViews { member: member.id }).await?;
        Ok(Self::new(&saved, address, form))
    }

    fn new(saved: &SavedViews, address: &Address, form: ViewForm) -> Self {
        let here = first_page(address);
        let views: Vec<OwnView> = saved
            .views()
            .iter()
            .map(|view| {
                let path = Address::of_path(&format!("{PATH}?{}", view.query)).path();
                OwnView { name: view.name.clone(), is_current: path == here, path }
            })
            .collect();
        let is_own = address.is_filtered() || !address.sort.is_empty();
        let can_save = form.problem.is_some() || (is_own && !views.iter().any(|view| view.is_current));
        Self { views, can_save, form }
    }
}

/// Returns the path of the first page of a list.
fn first_page(address: &Address) -> String {
    Address { page: 1, ..address.clone() }.path()
}

/// `POST /admin/views`: saves the list of the hidden field `next` under a name.
pub(crate) async fn save(context: Rc<Context>, fields: Fields) -> PageResult {
    let (_, member) = member(&context)?;
    let (address, name) = (Address::of_path(fields.get("next")), fields.get("name"));
    let path = first_page(&address);
    let query = path.split_once('?').map_or("", |(_, query)| query);
    let landing = with_done(&path, "view-saved");
    let problem = match SavedView::parse(name, query) {
        Err(invalid) => context.text().problem(&invalid),
        Ok(view) => {
            let operation = SaveView { member: member.id, view };
            match run_once(&context, &fields, operation, move |()| landing.clone()).await {
                Ok(reply) => return Ok(reply),
                Err(error) => refusal(context.text(), &error).ok_or(error)?,
            }
        }
    };
    let form = ViewForm { name: name.to_owned(), problem: Some(problem) };
    render(&context, address, Bulk::default(), form).await
}

/// `POST /admin/views/remove`: removes the view with a name.
pub(crate) async fn remove(context: Rc<Context>, fields: Fields) -> PageResult {
    let (_, member) = member(&context)?;
    let landing = with_done(&Address::of_path(fields.get("next")).path(), "view-removed");
    let operation = RemoveView { member: member.id, name: fields.get("name").to_owned() };
    run_once(&context, &fields, operation, move |()| landing.clone()).await
}

/// A saved view, and the form with a problem.
#[cfg(test)]
pub(super) fn sample(address: &Address) -> OwnViews {
    let mut saved = SavedViews::default();
    saved.add(SavedView::parse("Bugs <b> \"x\"", "state=all&tag=%22").unwrap()).unwrap();
    OwnViews::new(&saved, address, ViewForm { name: "\"<b>".to_owned(), problem: Some("Taken <b>.".to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_saved_once_and_is_current_on_all_of_its_pages() {
        let mut saved = SavedViews::default();
        saved.add(SavedView::parse("Bugs", "state=all&tag=bug").unwrap()).unwrap();
        let own = |path: &str, problem: Option<&str>| {
            let form = ViewForm { name: String::new(), problem: problem.map(ToOwned::to_owned) };
            let own = OwnViews::new(&saved, &Address::of_path(path), form);
            (own.views.iter().map(|view| (view.path.clone(), view.is_current)).collect::<Vec<_>>(), own.can_save)
        };
        let bugs = |is_current| vec![("/admin?state=all&tag=bug".to_owned(), is_current)];
        assert_eq!(own("/admin?tag=bug&state=all&page=3", None), (bugs(true), false));
        assert_eq!(own("/admin?tag=bug&state=all", Some("Taken.")), (bugs(true), true));
        assert_eq!(own("/admin?tag=bug", None), (bugs(false), true));
        assert_eq!(own("/admin?sort=votes", None), (bugs(false), true));
        // The views of the states are links already.
        assert_eq!(own("/admin?state=replied", None), (bugs(false), false));
    }
}
