//! The query plans of tags: their list reads the index of all tags of a workspace, all other statements read the feature
//! requests of a tag, or the newest ones.

use super::{ID, assert_selective, plan, sql};
use crate::fixtures::{connection, database};
use crate::reads::tags::{CountTags, FindTag, KnownTags, TagsPage};
use crate::search_documents::MarkOutdated;
use crate::writes::tags::{
    InsertEdits, RemoveSecondTag, RemoveTag, ReplaceTag, SelectDocuments, SelectTagged, TouchRequests,
};

fn text() -> String {
    "ui".to_owned()
}

fn known_tags() -> String {
    sql(&KnownTags { workspace: ID, scan_limit: 5_000, limit: 50 })
}

/// The statements of the feature requests of one tag.
fn statements_of_a_tag() -> Vec<String> {
    let workspace = ID;
    let (tag, other, requests) = (text, text, || "[]".to_owned());
    vec![
        sql(&FindTag { workspace, folded: text() }),
        sql(&SelectTagged { workspace, tag: tag(), spelling: text(), limit: 10_000 }),
        sql(&InsertEdits {
            at: 0,
            kind: text(),
            details: text(),
            actor_kind: text(),
            actor_id: Some(ID),
            actor_name: text(),
            created_at: 0,
            workspace,
            requests: requests(),
        }),
        sql(&TouchRequests { at: 0, workspace, requests: requests() }),
        sql(&RemoveSecondTag { workspace, tag: tag(), other: other(), requests: requests() }),
        sql(&ReplaceTag {
            spelling: text(),
            folded: text(),
            workspace,
            requests: requests(),
            tag: tag(),
            other: other(),
        }),
        sql(&RemoveTag { workspace, requests: requests(), tag: tag() }),
        sql(&SelectDocuments { workspace, requests: requests() }),
        sql(&MarkOutdated { workspace, requests: requests() }),
    ]
}

#[test]
fn a_tag_is_found_and_changed_by_an_index() {
    assert_selective(statements_of_a_tag().into_iter(), &[]);
}

#[test]
fn the_list_reads_the_index_of_all_tags() {
    let (workspace, part) = (ID, String::new);
    let page = TagsPage { workspace, part: part(), limit: 50, offset: 0 };
    let statements = [sql(&page), sql(&CountTags { workspace, part: part() })];
    assert_selective(statements.into_iter(), &["feature_request_tags_by_tag"]);
}

#[test]
fn suggestions_read_the_tags_of_the_newest_feature_requests_in_order() {
    assert_selective(std::iter::once(known_tags()), &["feature_request_tags"]);
    let (_folder, options) = database();
    let steps = plan(&mut connection(&options.path), &known_tags());
    let read = steps.iter().find(|step| step.detail.ends_with("(workspace_id=?)")).expect("a read of the newest tags");
    let mut sorts = steps.iter().filter(|step| step.detail.starts_with("USE TEMP B-TREE"));
    assert!(sorts.all(|sort| sort.parent != read.parent), "{}", read.detail);
}
