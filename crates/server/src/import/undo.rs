//! Deletes what a run has made.

use std::collections::BTreeMap;
use std::time::Instant;

use roadmap_domain::model::id::{ImportId, WorkspaceId};
use roadmap_domain::model::import::MadePosts;
use roadmap_domain::policy::links::Links;
use roadmap_domain::usecase::import::undo::{
    BeginUndo, EndUndo, UndoChangelogs, UndoCustomers, UndoPosts, UndoRequests,
};
use serde::{Deserialize, Serialize};

use super::load::begun;
use super::progress::Display;
use super::turns::pause_after;
use crate::wiring::Application;

/// What became of a run that was undone.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Undone {
    pub(crate) id: String,
    pub(crate) state: String,
    /// How many records were deleted, by their kind.
    pub(crate) deleted: BTreeMap<String, u64>,
    /// The feature requests and changelogs that stay, because something else has happened to them since.
    pub(crate) kept: Vec<Kept>,
}

/// A feature request or a changelog that stays.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) url: String,
}

/// Undoes a run.
pub(crate) async fn undo(
    application: &Application,
    workspace: WorkspaceId,
    links: &Links,
    id: ImportId,
) -> anyhow::Result<Undone> {
    let holder = application.ids.next(application.clock.now());
    let executor = &application.executor;
    begun(executor.run_without_key(workspace, &BeginUndo { id, holder }).await?)?;
    let mut display = Display::new();
    let mut undone =
        Undone { id: id.to_string(), state: "undone".to_owned(), deleted: BTreeMap::new(), kept: Vec::new() };
    let (mut changelogs, mut after) = (0, None);
    loop {
        let began = Instant::now();
        let batch = executor.run_without_key(workspace, &UndoChangelogs { id, holder, after }).await?;
        pause_after(application, began.elapsed()).await;
        changelogs += batch.deleted;
        undone.kept.extend(batch.kept.iter().map(|changelog| Kept {
            id: changelog.id.to_string(),
            title: changelog.title.to_string(),
            url: links.changelog(&changelog.id.to_string()),
        }));
        after = batch.last;
        if after.is_none() {
            break;
        }
    }
    let (mut requests, mut posts) = (0, MadePosts::default());
    for merged in [true, false] {
        let mut after = None;
        loop {
            let began = Instant::now();
            let batch = executor.run_without_key(workspace, &UndoRequests { id, holder, merged, after }).await?;
            pause_after(application, began.elapsed()).await;
            requests += batch.deleted;
            posts.add(batch.posts);
            undone.kept.extend(batch.kept.iter().map(|link| Kept {
                id: link.id.to_string(),
                title: link.title.to_string(),
                url: links.request(&link.slug()),
            }));
            display.show("feature requests", requests, requests);
            after = batch.last;
            if after.is_none() {
                break;
            }
        }
    }
    loop {
        let began = Instant::now();
        let batch = executor.run_without_key(workspace, &UndoPosts { id, holder }).await?;
        pause_after(application, began.elapsed()).await;
        match batch {
            Some(batch) => posts.add(batch),
            None => break,
        }
    }
    let (mut customers, mut after) = (0, None);
    loop {
        let began = Instant::now();
        let (deleted, last) = executor.run_without_key(workspace, &UndoCustomers { id, holder, after }).await?;
        pause_after(application, began.elapsed()).await;
        customers += deleted;
        display.show("customers", customers, customers);
        after = last;
        if after.is_none() {
            break;
        }
    }
    let ended = executor.run_without_key(workspace, &EndUndo { id, holder }).await?;
    let deleted = [
        ("changelogs", changelogs),
        ("feature_requests", requests),
        ("votes", posts.votes),
        ("subscriptions", posts.subscriptions),
        ("comments", posts.comments),
        ("notes", posts.notes),
        ("customers", customers),
        ("members", ended.members),
        ("tracks", ended.tracks),
        ("lanes", ended.lanes),
    ];
    undone.deleted = deleted.into_iter().map(|(kind, count)| (kind.to_owned(), count)).collect();
    Ok(undone)
}
