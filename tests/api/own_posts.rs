//! What customers edit and delete of what they have written, and what they cannot.

use serde_json::json;

use crate::app::App;
use crate::browser::{Browser, hidden, path_of};

/// Creates a feature request and returns its ID and the path of its page.
fn request(app: &App, title: &str) -> (String, String) {
    let request = app.acme.feature_request(title);
    (request["id"].as_str().unwrap().to_owned(), path_of(request["url"].as_str().unwrap()))
}

/// Submits an idea and returns its ID and the path of its page.
fn idea(app: &App, browser: &Browser, title: &str, description: &str) -> (String, String) {
    let path = browser.submit("/feature_requests/new", &[("title", title), ("description", description)]);
    let path = path.split('?').next().unwrap().to_owned();
    let detail = app.acme.detail(path.rsplit('/').next().unwrap());
    (detail["id"].as_str().unwrap().to_owned(), path)
}

/// The path of a link on a page, by its beginning and its end.
fn link(page: &str, start: &str, end: &str) -> Option<String> {
    let rest =
        page.split(&format!("href=\"{start}")).skip(1).find(|rest| rest.split('"').next().unwrap().ends_with(end))?;
    Some(format!("{start}{}", rest.split('"').next().unwrap()))
}

/// The fields of a form that edits an idea.
fn edit_form<'a>(fingerprint: &'a str, title: &'a str, content: &'a str) -> [(&'a str, &'a str); 4] {
    [("fingerprint", fingerprint), ("title", title), ("content", content), ("format", "markdown")]
}

fn comments(app: &App, id: &str) -> Vec<String> {
    let comments = app.acme.get_comments(id, "").is_ok();
    let content = |comment: &serde_json::Value| comment["content"].as_str().unwrap().trim_end().to_owned();
    comments["comments"].as_array().unwrap().iter().map(content).collect()
}

#[test]
fn an_own_comment_is_edited_and_deleted_by_its_author_only() {
    let app = App::start();
    let (id, path) = request(&app, "Dark mode");
    let (ann, bob) = (Browser::signed_in(&app, "ann@example.com"), Browser::signed_in(&app, "bob@example.com"));
    ann.submit(&format!("{path}/comments"), &[("content", "I need *this*")]);
    bob.submit(&format!("{path}/comments"), &[("content", "Me too")]);
    let page = ann.page(&path);
    let edit = link(&page, "/comments/", "/edit").expect("a link to edit");
    let delete = edit.replace("/edit", "/delete");
    assert_eq!(page.matches("/edit\"").count(), 1, "{page}");
    // The form has what was written, as it was typed.
    let form = ann.page(&edit);
    assert!(form.contains("I need *this*</textarea>") && form.contains("Edit your comment"), "{form}");
    let preview = ann.post(&edit, &[("content", "I need **that**"), ("format", "markdown"), ("preview", "1")]);
    assert!(preview.status == 200 && preview.text().contains("I need <strong>that</strong>"), "{}", preview.text());
    assert_eq!(comments(&app, &id)[0], "<p>I need <em>this</em></p>");
    let saved = ann.submit(&edit, &[("content", "I need **that**"), ("format", "markdown")]);
    assert_eq!(saved, format!("{path}?done=own-saved"));
    assert_eq!(comments(&app, &id), ["<p>I need <strong>that</strong></p>", "<p>Me too</p>"]);
    let page = ann.page(&saved);
    assert!(page.contains("Your changes are saved.") && page.contains(">edited<"), "{page}");
    // Nothing is saved that is no comment.
    let refused = ann.post(&edit, &[("content", " "), ("format", "markdown")]);
    assert!(refused.status == 422 && refused.text().contains("content-error"), "{}", refused.text());
    // For everybody else it does not exist: another customer, a member, visitors, and people of another workspace.
    let olga = Browser::signed_in(&app, "olga@acme.example");
    app.workspace("bolt");
    let strangers = [bob, olga, ann.moved_to("bolt")];
    for (index, stranger) in strangers.iter().enumerate() {
        for page in [&edit, &delete] {
            let read = stranger.get(page).status;
            let expected = if index == 2 { 303 } else { 404 };
            assert_eq!(read, expected, "{index} {page}");
            let written = stranger.post(page, &[("content", "Mine"), ("format", "markdown")]);
            assert!(written.status == 404 || index == 2, "{index} {page} {}", written.status);
        }
    }
    let visitor = Browser::new(&app).post(&edit, &[("content", "My words"), ("format", "markdown")]);
    assert!(visitor.status == 422 && visitor.text().contains("My words"), "{}", visitor.status);
    assert_eq!(comments(&app, &id).len(), 2);
    // Deleting asks. A second press of the button leads on.
    let question = ann.page(&delete);
    assert!(
        question.contains("Delete your comment?") && question.contains("I need <strong>that</strong>"),
        "{question}"
    );
    let key = hidden(&ann.page(&delete), "operation_key");
    for _ in 0..2 {
        assert_eq!(
            ann.submit(&delete, &[("operation_key", &key), ("next", &path)]),
            format!("{path}?done=own-comment-deleted")
        );
    }
    assert_eq!(ann.submit(&delete, &[("next", &path)]), path);
    assert_eq!(comments(&app, &id), ["<p>Me too</p>"]);
    // A record of itself, with no entry.
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE action LIKE 'comment.%'"), 0);
}

#[test]
fn after_an_answer_a_post_can_be_deleted_only() {
    let app = App::start();
    let ann = Browser::signed_in(&app, "ann@example.com");
    let (id, path) = idea(&app, &ann, "Dark mode", "Eyes");
    ann.submit(&format!("{path}/comments"), &[("content", "Please")]);
    let page = ann.page(&path);
    let comment = link(&page, "/comments/", "/edit").expect("a link to edit");
    let edits = [comment.clone(), format!("{path}/edit")];
    assert!(edits.iter().all(|edit| page.contains(&format!("href=\"{edit}\""))), "{page}");
    let fingerprint = hidden(&ann.page(&edits[1]), "fingerprint");
    app.acme.post_comment(&id, &json!({ "comment": { "content": "Soon" } })).is_ok();
    let page = ann.page(&path);
    for edit in &edits {
        assert!(!page.contains(&format!("href=\"{edit}\"")), "{edit}: {page}");
        assert!(page.contains(&format!("href=\"{}\"", edit.replace("/edit", "/delete"))), "{edit}: {page}");
        assert_eq!(ann.get(edit).header("location"), Some(format!("{path}?done=not-editable").as_str()));
        // What was typed meanwhile is not lost.
        let refused = ann.post(edit, &edit_form(&fingerprint, "Night mode", "My new words"));
        assert!(refused.status == 409 && refused.text().contains("My new words"), "{} {edit}", refused.status);
        assert!(refused.text().contains("It cannot be edited any more"), "{}", refused.text());
    }
    assert_eq!(app.acme.detail(&id)["title"], "Dark mode");
    assert!(ann.page(&format!("{path}?done=not-editable")).contains("You can still delete it."));
}

#[test]
fn an_own_idea_is_edited_as_it_was_read() {
    let app = App::start();
    let ann = Browser::signed_in(&app, "ann@example.com");
    let (id, path) = idea(&app, &ann, "Dark mode", "**Eyes**");
    let edit = format!("{path}/edit");
    let form = ann.page(&edit);
    assert!(form.contains("value=\"Dark mode\"") && form.contains("**Eyes**</textarea>"), "{form}");
    let fingerprint = hidden(&form, "fingerprint");
    let refused = ann.post(&edit, &edit_form(&fingerprint, " ", "Eyes"));
    assert!(refused.status == 422 && refused.text().contains("title-error"), "{}", refused.text());
    let saved = ann.submit(&edit, &edit_form(&fingerprint, "Night mode", "Tired *eyes*"));
    let path = saved.strip_suffix("?done=own-saved").unwrap();
    assert!(path.ends_with("-night-mode"), "{path}");
    let detail = app.acme.detail(&id);
    assert_eq!(
        (&detail["title"], detail["description"].as_str().unwrap().trim_end()),
        (&json!("Night mode"), "<p>Tired <em>eyes</em></p>")
    );
    assert!(ann.page(path).contains("Edited: Title, Description"));
    // The team has changed it meanwhile.
    let fingerprint = hidden(&ann.page(&format!("{path}/edit")), "fingerprint");
    app.acme.patch_feature_request(&id, &json!({ "feature_request": { "title": "Dark theme" } })).is_ok();
    let refused = ann.post(&format!("{path}/edit"), &edit_form(&fingerprint, "Black mode", "My new words"));
    assert!(refused.status == 409 && refused.text().contains("My new words"), "{}", refused.status);
    assert!(refused.text().contains("It was changed meanwhile."), "{}", refused.text());
    assert_eq!(app.acme.detail(&id)["title"], "Dark theme");
    // A description is optional.
    let edit = format!("{path}/edit");
    let fingerprint = hidden(&ann.page(&edit), "fingerprint");
    ann.submit(&edit, &edit_form(&fingerprint, "Dark theme", ""));
    assert_eq!(app.acme.detail(&id)["description"], "");
    for stranger in [Browser::signed_in(&app, "bob@example.com"), Browser::signed_in(&app, "olga@acme.example")] {
        for page in [edit.clone(), format!("{path}/delete")] {
            assert_eq!((stranger.get(&page).status, stranger.post(&page, &[]).status), (404, 404), "{page}");
        }
    }
    let edits = "SELECT count(*) FROM audit_entries WHERE action = 'feature_request.update'";
    assert_eq!(app.count(edits), 1, "that of the team");
}

#[test]
fn an_idea_of_others_too_keeps_what_is_theirs() {
    let app = App::start();
    let (ann, bob) = (Browser::signed_in(&app, "ann@example.com"), Browser::signed_in(&app, "bob@example.com"));
    let (alone, path) = idea(&app, &ann, "Quokka mode", "Ears");
    let question = ann.page(&format!("{path}/delete"));
    assert!(question.contains("Delete your idea?") && !question.contains("keeps_shared"), "{question}");
    assert_eq!(ann.submit(&format!("{path}/delete"), &[]), "/feature_requests?done=own-idea-deleted");
    assert_eq!(app.acme.get_feature_request(&alone).status, 404);

    let (shared, path) = idea(&app, &ann, "Numbat mode", "Stripes");
    let delete = format!("{path}/delete");
    assert!(ann.page(&delete).contains("Delete your idea?"));
    // Somebody votes before the author has answered the question: it is another one now.
    bob.submit(&format!("{path}/vote"), &[]);
    let asked = ann.post(&delete, &[]);
    assert!(asked.status == 200 && asked.text().contains("Remove your name and your text?"), "{}", asked.text());
    assert_eq!(app.acme.detail(&shared)["votes_count"], 2);
    assert_eq!(ann.submit(&delete, &[("keeps_shared", "1")]), format!("{path}?done=own-idea-removed"));
    let detail = app.acme.detail(&shared);
    assert_eq!(
        (&detail["title"], &detail["description"], &detail["votes_count"], &detail["customer"]),
        (&json!("Numbat mode"), &json!(""), &json!(2), &json!(null))
    );
    let page = ann.page(&path);
    assert!(!page.contains("Stripes") && !page.contains(&delete), "{page}");
    assert_eq!(ann.get(&delete).status, 404);
}

#[test]
fn what_waits_is_edited_until_it_is_approved() {
    let app = App::start();
    app.acme.patch_portal(&json!({ "portal": { "moderation": true } })).is_ok();
    let (id, path) = request(&app, "Dark mode");
    let ann = Browser::signed_in(&app, "ann@example.com");
    ann.submit(&format!("{path}/comments"), &[("content", "Please")]);
    let edit = link(&ann.page(&path), "/comments/", "/edit").expect("a link to edit");
    ann.submit(&edit, &[("content", "Please, soon"), ("format", "markdown")]);
    assert_eq!(comments(&app, &id), Vec::<String>::new());
    let held = app.acme.get_held_posts("").is_ok();
    assert!(held.to_string().contains("Please, soon"), "{held}");
    app.acme.approve_comment(edit.split('/').nth(2).unwrap()).is_ok();
    let page = ann.page(&path);
    assert!(page.contains("Please, soon") && link(&page, "/comments/", "/edit").is_none(), "{page}");
    let refused = ann.post(&edit, &[("content", "Buy pills"), ("format", "markdown")]);
    assert!(refused.status == 409 && refused.text().contains("Buy pills"), "{}", refused.status);
    assert_eq!(comments(&app, &id), ["<p>Please, soon</p>"]);
    ann.submit(&edit.replace("/edit", "/delete"), &[]);
    assert_eq!(comments(&app, &id), Vec::<String>::new());
}

#[test]
fn edits_and_deletions_weigh_like_comments() {
    let app = App::with(&[], &[("ROADMAP_RATE_LIMIT_POSTS", "3/h")]);
    let (id, path) = request(&app, "Dark mode");
    let ann = Browser::signed_in(&app, "ann@example.com");
    ann.submit(&format!("{path}/comments"), &[("content", "One")]);
    let edit = link(&ann.page(&path), "/comments/", "/edit").expect("a link to edit");
    for content in ["Two", "Three"] {
        ann.submit(&edit, &[("content", content), ("format", "markdown")]);
    }
    let limited = ann.post(&edit, &[("content", "My words"), ("format", "markdown")]);
    assert!(limited.status == 429 && limited.text().contains("My words"), "{}", limited.status);
    let limited = ann.post(&edit.replace("/edit", "/delete"), &[]);
    assert!(limited.status == 429 && limited.header("retry-after").is_some(), "{}", limited.status);
    assert_eq!(comments(&app, &id), ["<p>Three</p>"]);
}
