//! The page of a feature request for the team, at `/admin/feature_requests/{slug}`, and what is done from there.

use serde_json::{Value, json};

use crate::app::App;
use crate::browser::{Browser, hidden, path_of, shows};

const OLGA: &str = "olga@acme.example";
const NO_WORKER: (&str, &str) = ("ROADMAP_MAIL_WORKER", "false");

/// A service with a feature request of Ann, and Olga's browser.
struct Panel {
    app: App,
    olga: Browser,
    id: String,
    path: String,
}

impl Panel {
    fn start() -> Self {
        Self::of(App::with(&[], &[NO_WORKER]))
    }

    fn of(app: App) -> Self {
        let olga = Browser::signed_in(&app, OLGA);
        let (id, path) = request(&app, "Dark mode", "ann@example.com", false);
        Self { app, olga, id, path }
    }

    fn page(&self) -> String {
        self.olga.page(&self.path)
    }

    /// Sends the form of an action with the operation key of the page.
    fn submit(&self, action: &str, fields: &[(&str, &str)]) -> String {
        self.olga.submit(&format!("{}/{action}", self.path), fields)
    }

    /// Sends a form that is refused with 422, and returns the page.
    #[track_caller]
    fn refused(&self, action: &str, fields: &[(&str, &str)]) -> String {
        let response = self.olga.post(&format!("{}/{action}", self.path), fields);
        assert_eq!(response.status, 422, "{}", response.text());
        let page = response.text();
        assert!(page.contains("<title>Error: ") && page.contains("role=\"alert\""), "{page}");
        assert!(page.contains("There is a problem"), "{page}");
        page
    }

    fn detail(&self) -> Value {
        self.app.acme.detail(&self.id)
    }

    /// The latest audit entry about a record: actor, action and changes.
    fn audit(&self, id: &str) -> (Value, Value, Value) {
        let entries = self.app.acme.get_audit_entries(&format!("subject={id}")).is_ok();
        let entry = &entries["audit_entries"][0];
        (entry["actor"]["name"].clone(), entry["action"].clone(), entry["changes"].clone())
    }

    fn done(&self, done: &str) -> String {
        format!("{}?done={done}", self.path)
    }

    fn mails(&self) -> i64 {
        self.app.count("SELECT count(*) FROM outbox")
    }
}

/// Creates a feature request of a customer. Returns its ID and the path of its page in the panel.
fn request(app: &App, title: &str, email: &str, private: bool) -> (String, String) {
    let body = json!({
        "feature_request": { "title": title, "description": "<p>Less <b>light</b></p>", "tags": ["ui"], "private": private },
        "customer": { "email": email, "name": "Ann Example" },
    });
    let response = app.acme.post_feature_request(&body);
    assert_eq!(response.status, 201, "{}", response.text());
    let request = response.json()["feature_request"].clone();
    let slug = path_of(request["url"].as_str().unwrap());
    (request["id"].as_str().unwrap().to_owned(), format!("/admin{slug}"))
}

/// The sentence of the notice.
#[track_caller]
fn notice(page: &str) -> String {
    let (_, rest) = page.split_once("role=\"status\">").unwrap_or_else(|| panic!("no notice: {page}"));
    let (_, text) = rest.split_once("</svg>").unwrap();
    text.split_once("</p>").unwrap().0.to_owned()
}

/// The part of a page from the heading of a region to the end of the section.
#[track_caller]
fn region<'a>(page: &'a str, labelled_by: &str) -> &'a str {
    let mark = format!("aria-labelledby=\"{labelled_by}\">");
    let (_, rest) = page.split_once(&mark).unwrap_or_else(|| panic!("no region {labelled_by}: {page}"));
    rest.split_once("</section>").unwrap().0
}

fn comments(app: &App, id: &str) -> Vec<Value> {
    app.acme.get_comments(id, "").is_ok()["comments"].as_array().unwrap().clone()
}

fn notes(app: &App, id: &str) -> Vec<Value> {
    app.acme.get_reference_notes(id, "").is_ok()["reference_notes"].as_array().unwrap().clone()
}

#[test]
fn the_page_shows_everything_that_the_team_knows() {
    let panel = Panel::start();
    let page = panel.page();
    shows(&page, &["<h1 class=\"request-title\" dir=\"auto\">Dark mode</h1>", "<span>Number 1</span>"]);
    for (name, path) in [("Edit", "edit"), ("Merge", "merge"), ("Delete", "delete")] {
        shows(&page, &[&format!("href=\"{}/{path}\">{name}</a>", panel.path)]);
    }
    shows(
        region(&page, "details"),
        &["Less <b>light</b>", "Ann Example", "ann@example.com", "/admin?tag=ui", "On the portal"],
    );
    shows(region(&page, "notes"), &["Private notes", "No notes yet.", "Only the team sees notes.", ">Add note<"]);
    shows(
        region(&page, "comments-title"),
        &["No comments yet.", "Your comment", "E-mail all voters", ">Post comment<"],
    );
    shows(
        region(&page, "voters"),
        &["Ann Example", ">example.com<", "1 vote from 1 company", "/voters.csv\">Download CSV", ">Add vote<"],
    );
    shows(region(&page, "history"), &["Submitted by Ann Example"]);
    shows(&page, &["1 person gets mail", "<label for=\"track\">Track</label>", ">Move</button>"]);
}

#[test]
fn other_addresses_lead_to_the_canonical_one() {
    let panel = Panel::start();
    let location = |path: &str| {
        let response = panel.olga.get(path);
        (response.status, response.header("location").unwrap_or_default().to_owned())
    };
    let base = "/admin/feature_requests";
    assert_eq!(location(&format!("{base}/{}", panel.id)), (301, panel.path.clone()));
    assert_eq!(location(&format!("{base}/1-old-words?done=moved")), (301, panel.done("moved")));
    for unknown in ["99", "nonsense", "01890a5d-ac96-774b-bcce-b302099a8057"] {
        assert_eq!(panel.olga.get(&format!("{base}/{unknown}")).status, 404, "{unknown}");
        for action in ["edit", "merge", "delete", "voters", "voters.csv"] {
            assert_eq!(panel.olga.get(&format!("{base}/{unknown}/{action}")).status, 404, "{unknown} {action}");
        }
        for action in ["track", "visibility", "approve", "decline", "no_answer_needed", "unmerge", "delete"] {
            let track = panel.app.track("Planned");
            let response = panel.olga.post(&format!("{base}/{unknown}/{action}"), &[("track", &track)]);
            assert_eq!(response.status, 404, "{unknown} {action}");
        }
    }
    let (other, old) = request(&panel.app, "Night mode", "bob@example.com", true);
    panel.app.acme.merge(&other, &panel.id);
    assert_eq!(location(&old), (302, panel.path.clone()));
    assert_eq!(location(&format!("{base}/{other}")), (302, panel.path.clone()));
    assert_eq!(location(&format!("{old}/edit")), (302, panel.path.clone()));
    assert_eq!(location(&format!("{old}/delete")), (302, panel.path.clone()));
    assert_eq!(location(&format!("{old}/voters")), (302, format!("{}/voters", panel.path)));
}

#[test]
fn a_move_is_told_to_the_voters_only_if_asked_for() {
    let panel = Panel::start();
    let (planned, done) = (panel.app.track("Planned"), panel.app.track("Done"));
    assert_eq!(panel.submit("track", &[("track", &planned)]), panel.done("moved"));
    assert_eq!((panel.detail()["track"].clone(), panel.mails()), (json!("Planned"), 0));
    let entry = panel.audit(&panel.id);
    assert_eq!((entry.0, entry.1), (json!("Olga"), json!("feature_request.move")));
    assert_eq!(panel.submit("track", &[("track", &planned), ("notify", "1")]), panel.done("unchanged"));
    let location = panel.submit("track", &[("track", &done), ("notify", "1")]);
    assert_eq!((location.clone(), panel.mails()), (panel.done("moved-mail"), 1));
    let page = panel.olga.page(&location);
    assert_eq!(notice(&page), "The feature request was moved, and the voters get mail about a new status.");
    shows(region(&page, "history"), &["Moved to Done", "by Olga", "Moved to Planned"]);
    for track in ["", "x", "01890a5d-ac96-774b-bcce-b302099a8057"] {
        let page = panel.refused("track", &[("track", track), ("notify", "1")]);
        shows(&page, &["This track does not exist any more.", "name=\"notify\" value=\"1\" checked"]);
    }
    assert_eq!(panel.detail()["track"], "Done");
}

#[test]
fn a_used_up_budget_of_mail_is_a_problem_at_the_form() {
    let app = App::with(&[], &[NO_WORKER, ("ROADMAP_MAIL_PER_DAY", "1")]);
    let panel = Panel::of(app);
    panel.app.acme.vote(&panel.id, "bob@example.com");
    let page = panel.refused("comments", &[("content", "**Soon**"), ("notify_all_voters", "1")]);
    shows(
        &page,
        &[
            "The mail of today is used up",
            "**Soon**</textarea>",
            "value=\"1\" checked",
            "id=\"notify_all_voters-error\"",
        ],
    );
    assert_eq!((comments(&panel.app, &panel.id).len(), panel.mails()), (0, 0));
    let planned = panel.app.track("Planned");
    let page = panel.refused("track", &[("track", &planned), ("notify", "1")]);
    shows(
        &page,
        &["The mail of today is used up", "id=\"notify-error\"", &format!("<option value=\"{planned}\" selected>")],
    );
    assert_eq!(panel.detail()["track"], "Inbox");
}

#[test]
fn visibility_is_changed_with_one_button() {
    let panel = Panel::start();
    shows(&panel.page(), &["Make private"]);
    assert_eq!(panel.submit("visibility", &[("private", "true")]), panel.done("made-private"));
    assert_eq!(panel.detail()["private"], true);
    let page = panel.page();
    shows(region(&page, "details"), &["Only the team and the author see it.", "Make public"]);
    assert_eq!(panel.submit("visibility", &[("private", "true")]), panel.done("unchanged"));
    assert_eq!(panel.submit("visibility", &[("private", "false")]), panel.done("made-public"));
    assert_eq!(panel.detail()["private"], false);
    let entry = panel.audit(&panel.id);
    assert_eq!((entry.0, entry.1), (json!("Olga"), json!("feature_request.update")));
}

#[test]
fn an_idea_that_waits_is_approved_or_declined() {
    let panel = Panel::start();
    let waiting = |title: &str| {
        let (id, path) = request(&panel.app, title, "bob@example.com", true);
        panel.app.data.hold_feature_request(&id);
        (id, path)
    };
    let (id, path) = waiting("Night mode");
    let page = panel.olga.page(&path);
    shows(region(&page, "details"), &["It waits for approval.", "Approve</button>", ">Decline</button>"]);
    assert_eq!(panel.olga.submit(&format!("{path}/approve"), &[]), format!("{path}?done=requests-approved"));
    assert_eq!(
        (panel.app.acme.detail(&id)["private"].clone(), panel.audit(&id).1),
        (json!(false), json!("feature_request.approve"))
    );
    assert_eq!(panel.olga.submit(&format!("{path}/approve"), &[]), format!("{path}?done=unchanged"));
    let (id, path) = waiting("Blue mode");
    assert_eq!(panel.olga.submit(&format!("{path}/decline"), &[]), format!("{path}?done=requests-declined"));
    assert_eq!(
        (panel.app.acme.detail(&id)["private"].clone(), panel.audit(&id).1),
        (json!(true), json!("feature_request.decline"))
    );
    assert!(!panel.olga.page(&path).contains("It waits for approval."));
}

#[test]
fn a_comment_of_the_team_is_posted_once() {
    let panel = Panel::start();
    panel.app.acme.vote(&panel.id, "bob@example.com");
    let preview = panel.olga.post(&format!("{}/comments", panel.path), &[("content", "**Soon**"), ("preview", "1")]);
    assert_eq!(preview.status, 200);
    shows(&preview.text(), &["<strong>Soon</strong>", "**Soon**</textarea>"]);
    assert_eq!(comments(&panel.app, &panel.id).len(), 0);
    let key = hidden(&panel.page(), "operation_key");
    let fields = [("content", "**Soon**"), ("operation_key", key.as_str())];
    for _ in 0..2 {
        assert_eq!(panel.submit("comments", &fields), panel.done("answered"));
    }
    let listed = comments(&panel.app, &panel.id);
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (&listed[0]["content"], &listed[0]["author"]["name"]),
        (&json!("<p><strong>Soon</strong></p>\n"), &json!("Olga"))
    );
    // The author of the feature request gets every answer, and the voters only if the box is ticked.
    assert_eq!(panel.mails(), 1);
    let location = panel.submit("comments", &[("content", "Now"), ("notify_all_voters", "1")]);
    assert_eq!((location.clone(), panel.mails()), (panel.done("answered-mail"), 3));
    let page = panel.olga.page(&location);
    assert_eq!(notice(&page), "Your comment was posted, and the voters get mail.");
    shows(region(&page, "comments-title"), &["Olga", ">Team<", "<p>Now</p>"]);
    let page = panel.refused("comments", &[("content", " "), ("notify_all_voters", "1")]);
    shows(&page, &["Comment is missing.", "href=\"#content\"", "name=\"notify_all_voters\" value=\"1\" checked"]);
    // What was typed is not lost when the feature request is gone.
    panel.app.acme.delete_feature_request(&panel.id, "").is_empty();
    let gone = panel.olga.post(&format!("{}/comments", panel.path), &[("content", "A long answer")]);
    assert_eq!(gone.status, 404);
    shows(&gone.text(), &["A long answer</textarea>"]);
}

#[test]
fn notes_are_added_and_deleted() {
    let panel = Panel::start();
    let key = hidden(&panel.page(), "operation_key");
    let fields = [("note", "Renews in **May**"), ("operation_key", key.as_str())];
    for _ in 0..2 {
        assert_eq!(panel.submit("notes", &fields), panel.done("noted"));
    }
    let listed = notes(&panel.app, &panel.id);
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["body"], "<p>Renews in <strong>May</strong></p>\n");
    let page = panel.page();
    shows(region(&page, "notes"), &["Olga", "Renews in <strong>May</strong>", ">Delete note<"]);
    shows(&panel.refused("notes", &[("note", "")]), &["Private note is missing.", "href=\"#note\""]);
    let note = listed[0]["id"].as_str().unwrap().to_owned();
    let key = hidden(&page, "operation_key");
    let fields = [("next", panel.path.as_str()), ("operation_key", key.as_str())];
    for _ in 0..2 {
        let location = panel.olga.submit(&format!("/admin/notes/{note}/delete"), &fields);
        assert_eq!(location, panel.done("note-deleted"));
    }
    assert_eq!((notes(&panel.app, &panel.id).len(), panel.audit(&note).1), (0, json!("reference_note.delete")));
    for unknown in [note.as_str(), "x"] {
        assert_eq!(panel.olga.post(&format!("/admin/notes/{unknown}/delete"), &[]).status, 404);
    }
}

/// Links: members add and remove links on the page of a feature request, once for each form.
#[test]
fn links_are_added_and_removed() {
    let panel = Panel::start();
    let listed = || panel.app.acme.get_links(&panel.id, "").is_ok()["links"].as_array().unwrap().clone();
    let key = hidden(&panel.page(), "operation_key");
    let fields = [("url", " https://github.com/acme/app/issues/7 "), ("operation_key", key.as_str())];
    for _ in 0..2 {
        assert_eq!(panel.submit("links", &fields), panel.done("link-added"));
    }
    assert_eq!(panel.submit("links", &[("url", "https://github.com/ACME/app/pull/7/files")]), panel.done("link-known"));
    assert_eq!(listed().len(), 1);
    let id = listed()[0]["id"].as_str().unwrap().to_owned();
    let title = json!({ "link": { "title": "Dark <i>mode</i>", "state": "closed" } });
    panel.app.acme.patch_link(&id, &title).is_ok();
    let page = panel.page();
    shows(
        region(&page, "links"),
        &[
            "href=\"https://github.com/acme/app/issues/7\" rel=\"noopener noreferrer\"",
            ">acme/app#7</bdi>",
            "Dark &#60;i&#62;mode&#60;/i&#62;",
            ">Closed<",
            "aria-label=\"Remove acme/app#7\"",
            ">Add link<",
        ],
    );
    for (url, sentence) in [
        ("", "Link is missing."),
        ("javascript:alert(1)", "This is not the address of a page."),
        ("https://user@acme.example/", "This is not the address of a page."),
    ] {
        let page = panel.refused("links", &[("url", url)]);
        shows(&page, &[sentence, "href=\"#url\""]);
        assert!(!page.contains("href=\"javascript"), "{url}");
    }
    for number in 0..19 {
        let link = json!({ "link": { "url": format!("https://acme.example/{number}") } });
        panel.app.acme.post_link(&panel.id, &link).is_ok();
    }
    let full = panel.refused("links", &[("url", "https://acme.example/more")]);
    shows(&full, &["There are 20 links already.", "value=\"https://acme.example/more\""]);
    let key = hidden(&page, "operation_key");
    let fields = [("next", panel.path.as_str()), ("operation_key", key.as_str())];
    for _ in 0..2 {
        let location = panel.olga.submit(&format!("/admin/links/{id}/delete"), &fields);
        assert_eq!(location, panel.done("link-removed"));
    }
    assert_eq!((listed().len(), panel.audit(&id).1), (19, json!("link.delete")));
    assert_eq!(panel.olga.post(&format!("/admin/links/{id}/delete"), &[]).status, 404);
    // Nobody else sees them.
    let portal = panel.app.acme.get(&panel.path.replace("/admin", "")).text();
    assert!(!portal.contains("acme.example/1"), "{portal}");
}

#[test]
fn a_vote_is_added_for_a_customer() {
    let panel = Panel::start();
    let fields = [("email", "Cem@example.com"), ("name", "Cem"), ("vote_note", "On the phone")];
    assert_eq!(panel.submit("votes", &fields), panel.done("vote-added"));
    assert_eq!(panel.detail()["votes_count"], 2);
    let listed = notes(&panel.app, &panel.id);
    assert_eq!((listed.len(), &listed[0]["customer"]["email"]), (1, &json!("Cem@example.com")));
    let page = panel.page();
    shows(region(&page, "voters"), &["Cem", ">example.com<", "All 2 voters"]);
    shows(region(&page, "notes"), &["On the phone", "About"]);
    let location = panel.submit("votes", &[("email", "cem@EXAMPLE.com")]);
    assert_eq!((location, panel.detail()["votes_count"].clone()), (panel.done("vote-known"), json!(2)));
    let page = panel.refused("votes", &[("email", "nobody"), ("name", "Nobody"), ("vote_note", "Typed")]);
    shows(
        &page,
        &[
            "This is not an e-mail address.",
            "value=\"nobody\"",
            "value=\"Nobody\"",
            "Typed</textarea>",
            "<details class=\"after\" open>",
        ],
    );
    assert_eq!(panel.detail()["votes_count"], 2);
}

#[test]
fn an_edit_changes_only_what_was_touched() {
    let panel = Panel::start();
    let page = panel.olga.page(&format!("{}/edit", panel.path));
    shows(&page, &["Edit: Dark mode", "value=\"Dark mode\"", "Less **light**</textarea>", "value=\"ui\"", ">Save<"]);
    let (print, format) = (hidden(&page, "fingerprint"), hidden(&page, "format"));
    let key = hidden(&page, "operation_key");
    let fields = |title: &'static str, description: &'static str, tags: &'static str| {
        vec![("title", title), ("description", description), ("tags", tags)]
    };
    let known = [("fingerprint", print.as_str()), ("format", format.as_str()), ("operation_key", key.as_str())];
    let preview = [&fields("Dark mode", "*New*", "ui")[..], &known, &[("preview", "1")]].concat();
    let preview = panel.olga.post(&format!("{}/edit", panel.path), &preview);
    assert_eq!(preview.status, 200);
    shows(&preview.text(), &["<em>New</em>", "*New*</textarea>"]);
    for (edited, sentence) in [
        (fields(" ", "Kept text", "ui"), "Title is missing."),
        (fields("Kept", "Kept text", "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u"), "There can be 20 tags"),
    ] {
        let page = panel.refused("edit", &[&edited[..], &known].concat());
        shows(&page, &[sentence, "Kept text</textarea>"]);
    }
    assert_eq!(panel.detail()["title"], "Dark mode");
    let sent_fields =
        [&fields("Night mode", "Less **light**", "ui, \"a, b\"")[..], &known, &[("private", "1")]].concat();
    for _ in 0..2 {
        let location = panel.submit("edit", &sent_fields);
        assert_eq!(location, "/admin/feature_requests/1-night-mode?done=request-saved");
    }
    let detail = panel.detail();
    assert_eq!(
        (&detail["title"], &detail["private"], &detail["tags"]),
        (&json!("Night mode"), &json!(true), &json!(["ui", "a, b"]))
    );
    assert_eq!(detail["description"], "<p>Less <b>light</b></p>");
    let (actor, action, changes) = panel.audit(&panel.id);
    assert_eq!((actor, action), (json!("Olga"), json!("feature_request.update")));
    let changed: Vec<&Value> = changes.as_array().unwrap().iter().map(|change| &change["field"]).collect();
    assert_eq!(changed, ["title", "tags", "private"]);
}

#[test]
fn a_description_that_markdown_cannot_express_is_edited_as_html() {
    let panel = Panel::start();
    let html = "<p>Water: H<sub>2</sub>O</p>";
    panel.app.acme.patch_feature_request(&panel.id, &json!({ "feature_request": { "description": html } })).is_ok();
    let page = panel.olga.page(&format!("{}/edit", panel.path));
    assert_eq!(hidden(&page, "format"), "html");
    shows(&page, &["Therefore it is shown as HTML."]);
    let print = hidden(&page, "fingerprint");
    let hostile = "<p>Water: H<sub>2</sub>O<script>alert(1)</script></p>";
    let fields =
        [("title", "Dark mode"), ("description", hostile), ("tags", "ui"), ("format", "html"), ("fingerprint", &print)];
    panel.submit("edit", &fields);
    assert_eq!(panel.detail()["description"], html);
}

#[test]
fn the_second_of_two_editors_sees_what_the_first_has_saved() {
    let panel = Panel::start();
    panel.app.roadmap(&["member", "add", "--workspace", "acme", "--email", "max@acme.example", "--name", "Max"]).json();
    let max = Browser::signed_in(&panel.app, "max@acme.example");
    let form = format!("{}/edit", panel.path);
    let (of_olga, of_max) = (panel.olga.page(&form), max.page(&form));
    let print = hidden(&of_max, "fingerprint");
    let fields = [("title", "Dim mode"), ("description", "Of Max"), ("tags", "ui"), ("fingerprint", &print)];
    assert_eq!(max.submit(&form, &fields), "/admin/feature_requests/1-dim-mode?done=request-saved");
    let print = hidden(&of_olga, "fingerprint");
    let sent_fields = [("title", "Night mode"), ("description", "Of Olga"), ("tags", "ui, new")];
    let refused = panel.olga.post(&form, &[&sent_fields[..], &[("fingerprint", &print)]].concat());
    assert_eq!(refused.status, 409);
    let page = refused.text();
    shows(
        &page,
        &["role=\"alert\"", "Somebody else has changed this, too", "Max has changed it on ", "<title>Error: "],
    );
    shows(&page, &["value=\"Night mode\"", "Of Olga</textarea>", "value=\"ui, new\""]);
    shows(&page, &["Stored now:</h2><p dir=\"auto\">Dim mode</p>", "<p>Of Max</p>", "<p dir=\"auto\">ui</p>"]);
    assert!(!page.contains("href=\"#private\""), "{page}");
    assert_eq!(panel.detail()["title"], "Dim mode");
    // Saved once more, it replaces what she has seen.
    let print = hidden(&page, "fingerprint");
    panel.submit("edit", &[&sent_fields[..], &[("fingerprint", &print)]].concat());
    let detail = panel.detail();
    assert_eq!(
        (&detail["title"], &detail["description"], &detail["tags"]),
        (&json!("Night mode"), &json!("<p>Of Olga</p>"), &json!(["ui", "new"]))
    );
    // What was meant for a feature request that was merged meanwhile does not change its target.
    let (target, _) = request(&panel.app, "Theme", "bob@example.com", false);
    panel.app.acme.merge(&panel.id, &target);
    let response = panel.olga.post(&form, &sent_fields);
    assert_eq!(response.status, 404);
    shows(&response.text(), &["Of Olga</textarea>"]);
    assert_eq!(panel.app.acme.detail(&target)["title"], "Theme");
}

#[test]
fn a_stale_page_does_not_act_on_the_target_of_a_merge() {
    let panel = Panel::start();
    let (target, _) = request(&panel.app, "Theme", "bob@example.com", false);
    panel.app.acme.merge(&panel.id, &target);
    let before = (panel.app.acme.detail(&target), panel.app.count("SELECT count(*) FROM audit_entries"));
    let done = panel.app.track("Done");
    for (action, fields) in [
        ("track", &[("track", done.as_str()), ("notify", "1")][..]),
        ("visibility", &[("private", "true")]),
        ("approve", &[]),
        ("decline", &[]),
        ("no_answer_needed", &[]),
        ("comments", &[("content", "Of Olga"), ("notify_all_voters", "1")]),
        ("comments", &[("content", "Of Olga"), ("preview", "1")]),
        ("notes", &[("note", "Of Olga")]),
        ("votes", &[("email", "dan@example.com"), ("name", ""), ("vote_note", "Of Olga")]),
    ] {
        let page = panel.refused(action, fields);
        shows(
            &page,
            &["href=\"#details\"", "was merged into “Theme” since you opened its page, so nothing was changed."],
        );
        assert_eq!(page.contains("Of Olga</textarea>"), fields.iter().any(|(_, value)| *value == "Of Olga"), "{page}");
    }
    assert_eq!((panel.app.acme.detail(&target), panel.app.count("SELECT count(*) FROM audit_entries")), before);
    // What was done before the merge is still said after it.
    let response = panel.olga.get(&format!("{}?done=noted", panel.path));
    assert_eq!(response.header("location"), Some("/admin/feature_requests/2-theme?done=noted"));
    assert_eq!(panel.app.count("SELECT count(*) FROM outbox"), 0);
}

#[test]
fn deletion_asks_and_says_what_goes_with_it() {
    let panel = Panel::start();
    let (other, _) = request(&panel.app, "Night mode", "bob@example.com", false);
    panel.app.acme.merge(&other, &panel.id);
    panel.app.acme.comment(&panel.id, "Soon");
    panel.submit("notes", &[("note", "Important")]);
    let form = format!("{}/delete", panel.path);
    let page = panel.olga.page(&form);
    shows(
        &page,
        &["Delete “Dark mode”?", "<li>2 votes</li>", "<li>1 private note</li>", "1 merged feature request</li>"],
    );
    shows(&page, &["Also delete 1 merged feature request", ">Delete feature request<", "Night mode"]);
    let page = panel.refused("delete", &[]);
    shows(&page, &["Others are merged into this one.", "href=\"#with_merged\""]);
    // Only somebody who has signed in lately can delete.
    panel.app.data.age_sessions();
    let page = panel.olga.page(&form);
    assert!(page.contains("Sign in again") && !page.contains("Delete feature request<"), "{page}");
    let response = panel.olga.post(&form, &[("with_merged", "1")]);
    assert_eq!(response.status, 303);
    assert!(response.header("location").unwrap().starts_with("/sign-in?next="), "{response:?}");
    assert_eq!(panel.detail()["title"], "Dark mode");
    let olga = Browser::signed_in(&panel.app, OLGA);
    let key = hidden(&olga.page(&form), "operation_key");
    for _ in 0..2 {
        let location = olga.submit(&form, &[("with_merged", "1"), ("operation_key", &key)]);
        assert_eq!(location, "/admin?done=request-deleted");
    }
    assert_eq!(panel.app.count("SELECT count(*) FROM feature_requests"), 0);
    assert_eq!(panel.audit(&panel.id).1, "feature_request.delete");
    assert_eq!(olga.get(&panel.path).status, 404);
}

#[test]
fn a_target_is_searched_and_the_merge_is_shown_before() {
    let panel = Panel::start();
    let (target, target_path) = request(&panel.app, "Night theme", "bob@example.com", false);
    let (secret, _) = request(&panel.app, "Secret theme", "cem@example.com", true);
    panel.app.acme.vote(&target, "ann@example.com");
    panel.app.acme.vote(&target, "dan@example.com");
    let form = format!("{}/merge", panel.path);
    let page = panel.olga.page(&form);
    shows(&page, &["Merge “Dark mode”", "type=\"search\" aria-label=\"Search feature requests\""]);
    let page = panel.olga.page(&format!("{form}?query=theme"));
    let into = |id: &str| format!("{form}?into={id}");
    shows(
        &page,
        &[&format!("href=\"{}\" aria-label=\"Merge into Night theme\"", into(&target)), "Merge into Secret theme"],
    );
    shows(&page, &[">Private<"]);
    assert!(panel.olga.page(&format!("{form}?query=2")).contains("Merge into Night theme"));
    let page = panel.olga.page(&format!("{form}?query=dark"));
    assert!(!page.contains("Merge into Dark mode"), "{page}");
    shows(&panel.olga.page(&format!("{form}?query=zebra")), &["Nothing found."]);
    let page = panel.olga.page(&into(&target));
    shows(&page, &["Dark mode", "Night theme", "Together 3 votes: 1 customer voted for both and counts once."]);
    shows(&page, &["The old address leads to the one that stays.", ">Merge</button>"]);
    assert_eq!(panel.app.count("SELECT count(*) FROM feature_request_events"), 0);
    // A public one does not become part of a private one.
    let page = panel.olga.page(&into(&secret));
    assert!(page.contains("cannot become part of a private one") && !page.contains(">Merge</button>"), "{page}");
    let page = panel.refused("merge", &[("into", &secret)]);
    shows(&page, &["cannot become part of a private one", "href=\"#query\""]);
    let page = panel.refused("merge", &[("into", &panel.id)]);
    shows(&page, &["This is the same feature request"]);
    let page = panel.refused("merge", &[("into", "01890a5d-ac96-774b-bcce-b302099a8057")]);
    shows(&page, &["does not exist any more"]);
    assert_eq!(panel.olga.get(&into(&panel.id)).status, 422);
    for unknown in ["x", "01890a5d-ac96-774b-bcce-b302099a8057"] {
        assert_eq!(panel.olga.get(&into(unknown)).status, 404, "{unknown}");
    }
    let location = panel.submit("merge", &[("into", &target)]);
    assert_eq!(location, format!("{target_path}?done=merged"));
    let page = panel.olga.page(&location);
    assert_eq!(notice(&page), "1 feature request was merged.");
    shows(region(&page, "merged"), &["Dark mode", "aria-label=\"Unmerge Dark mode\""]);
    shows(region(&page, "voters"), &["All 3 voters"]);
    shows(region(&page, "history"), &["Merged with “Dark mode”", "by Olga"]);
    let entry = panel.audit(&panel.id);
    assert_eq!((entry.0, entry.1), (json!("Olga"), json!("feature_request.merge")));
    // The same again changes nothing.
    assert_eq!(panel.submit("merge", &[("into", &target)]), format!("{target_path}?done=unchanged"));
}

#[test]
fn a_private_one_keeps_its_words_hidden_when_it_is_merged() {
    let panel = Panel::start();
    let (secret, path) = request(&panel.app, "Secret theme", "cem@example.com", true);
    let page = panel.olga.page(&format!("{path}/merge?into={}", panel.id));
    shows(&page, &["its words stay hidden from everybody but the team", ">Merge</button>"]);
    panel.olga.submit(&format!("{path}/merge"), &[("into", &panel.id)]);
    shows(region(&panel.page(), "merged"), &["Secret theme"]);
    let portal = Browser::new(&panel.app).page(&panel.path.replace("/admin", ""));
    assert!(!portal.contains("Secret theme"), "{portal}");
    assert_eq!(panel.app.acme.detail(&secret)["id"], panel.id);
}

#[test]
fn a_merge_is_undone() {
    let panel = Panel::start();
    let (target, target_path) = request(&panel.app, "Night theme", "bob@example.com", false);
    let (third, _) = request(&panel.app, "Colours", "cem@example.com", false);
    panel.app.acme.merge(&panel.id, &target);
    let page = panel.olga.page(&format!("{}/merge?query=x", panel.path));
    shows(
        &page,
        &["It is merged into “Night theme”.", &format!("action=\"{}/unmerge\"", panel.path), ">Unmerge</button>"],
    );
    // Somebody who wanted to merge it elsewhere sees where it is now.
    let page = panel.refused("merge", &[("into", &third)]);
    shows(&page, &["Somebody has merged this one into another feature request meanwhile.", ">Unmerge</button>"]);
    let location = panel.submit("unmerge", &[("next", &target_path)]);
    assert_eq!(location, format!("{target_path}?done=unmerged"));
    assert_eq!(notice(&panel.olga.page(&location)), "The feature request stands for itself again.");
    assert_eq!(
        (panel.detail()["id"].clone(), panel.audit(&panel.id).1),
        (json!(panel.id), json!("feature_request.unmerge"))
    );
    assert_eq!(panel.submit("unmerge", &[("next", &target_path)]), format!("{target_path}?done=unchanged"));
    panel.app.acme.merge(&panel.id, &target);
    assert_eq!(panel.submit("unmerge", &[]), panel.done("unmerged"));
}

#[test]
fn the_team_writes_down_a_feature_request() {
    let panel = Panel::start();
    let form = "/admin/feature_requests/new";
    let page = panel.olga.page(form);
    shows(
        &page,
        &["<h1 class=\"request-title\">New feature request</h1>", ">Create feature request<", "Look for similar ones"],
    );
    let again = panel.olga.post(form, &[("title", "Dark mode please"), ("description", "Kept"), ("again", "1")]);
    assert_eq!(again.status, 200);
    shows(&again.text(), &["Similar feature requests", &format!("href=\"{}\"", panel.path), "Kept</textarea>"]);
    let part = panel.olga.page("/admin/feature_requests/similar?title=Dark+mode+please");
    assert!(part.contains(&panel.path) && !part.contains("<html") && !part.contains("<form"), "{part}");
    shows(&panel.olga.page("/admin/feature_requests/similar?title=zebra"), &["Nothing similar was found."]);
    let planned = panel.app.track("Planned");
    let page = panel.olga.post(form, &[("title", ""), ("name", "Cem"), ("note", "Kept note"), ("track", &planned)]);
    assert_eq!(page.status, 422);
    shows(&page.text(), &["Title is missing.", "E-mail address is missing.", "Kept note</textarea>", "value=\"Cem\""]);
    shows(&page.text(), &[&format!("<option value=\"{planned}\" selected>")]);
    let gone = [("title", "A"), ("track", "01890a5d-ac96-774b-bcce-b302099a8057")];
    let page = panel.olga.post(form, &gone);
    assert_eq!(page.status, 422);
    shows(&page.text(), &["This track does not exist any more."]);
    let key = hidden(&panel.olga.page(form), "operation_key");
    let fields = [
        ("operation_key", key.as_str()),
        ("title", "Offline mode"),
        ("description", "On *trains*"),
        ("tags", "mobile, sync"),
        ("track", planned.as_str()),
        ("private", "1"),
        ("email", "cem@example.com"),
        ("name", "Cem"),
        ("note", "Asked twice"),
    ];
    for _ in 0..2 {
        let location = panel.olga.submit(form, &fields);
        assert_eq!(location, "/admin/feature_requests/2-offline-mode?done=request-created");
    }
    assert_eq!(panel.app.count("SELECT count(*) FROM feature_requests"), 2);
    let detail = panel.app.acme.detail("2");
    assert_eq!(
        (&detail["tags"], &detail["track"], &detail["private"]),
        (&json!(["mobile", "sync"]), &json!("Planned"), &json!(true))
    );
    assert_eq!((&detail["votes_count"], &detail["author"]["email"]), (&json!(1), &json!("cem@example.com")));
    assert_eq!(notes(&panel.app, "2")[0]["body"], "<p>Asked twice</p>\n");
    let location = panel.olga.submit(form, &[("title", "Bare")]);
    assert_eq!(location, "/admin/feature_requests/3-bare?done=request-created");
    assert_eq!(panel.app.acme.detail("3")["votes_count"], 0);
}

#[test]
fn voters_are_listed_in_pages_and_in_a_file() {
    let panel = Panel::start();
    panel.app.data.add_voters(&panel.id, 103);
    let page = panel.olga.page(&format!("{}/voters", panel.path));
    shows(&page, &["Voters of “Dark mode”", "Page 1 of 2", "<table class=\"table\">"]);
    assert_eq!(page.matches("<tr><th scope=\"row\"").count(), 100);
    let second = panel.olga.page(&format!("{}/voters?page=2", panel.path));
    let on_second = second.matches("<tr><th scope=\"row\"").count();
    // Ann has voted, too.
    assert_eq!(on_second, 4);
    for odd in ["0", "x", "99"] {
        assert_eq!(panel.olga.get(&format!("{}/voters?page={odd}", panel.path)).status, 200, "{odd}");
    }
    let file = panel.olga.get(&format!("{}/voters.csv", panel.path));
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
    let text = file.text();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("\u{feff}\"name\",\"email\",\"voted_at\",\"domain\",\"note\""));
    assert_eq!(lines.clone().count(), 104);
    assert!(lines.any(|line| line.starts_with("\"Ann Example\",\"ann@example.com\",\"20")), "{text}");
}

#[test]
fn voters_have_companies_and_notes() {
    let panel = Panel::start();
    let vote = |email: &str, note: &str| {
        let mut body = json!({ "customer": { "email": email } });
        if !note.is_empty() {
            body["reference_note"] = json!({ "body": note });
        }
        panel.app.acme.post_upvote(&panel.id, &body).is_ok();
    };
    vote("bo@Bolt.example", "Renews in <b>May</b>");
    vote("cy@bolt.example", "=1+1");
    vote("dee@gmail.com", "");
    vote("dee@gmail.com", &"long ".repeat(100));
    vote("dee@gmail.com", &format!("Newest. {}", "long ".repeat(100)));
    let page = panel.page();
    shows(region(&page, "voters"), &["4 votes from 2 companies", ">bo@Bolt.example<"]);
    let page = panel.olga.page(&format!("{}/voters", panel.path));
    shows(&page, &["4 votes from 2 companies", "Company", ">bolt.example</bdi>", "Renews in May", ">Newest. long"]);
    assert!(!page.contains(">gmail.com<"), "{page}");
    let file = panel.olga.page(&format!("{}/voters.csv", panel.path));
    let line = |email: &str| file.lines().find(|line| line.contains(email)).expect("a line").to_owned();
    assert!(line("bo@Bolt").ends_with("\"bolt.example\",\"Renews in May\""), "{file}");
    // No program takes a note for a formula.
    assert!(line("cy@bolt").ends_with("\"bolt.example\",\"'=1+1\""), "{file}");
    assert!(line("dee@").contains("\"\",\"Newest. long") && line("dee@").ends_with("\u{2026}\""), "{file}");
}

#[test]
fn a_file_has_many_voters_each_once() {
    let panel = Panel::start();
    panel.app.data.add_voters(&panel.id, 20_000);
    let started = std::time::Instant::now();
    let text = panel.olga.page(&format!("{}/voters.csv", panel.path));
    println!("a file with 20,001 voters took {:?}", started.elapsed());
    let addresses: std::collections::BTreeSet<&str> =
        text.lines().skip(1).map(|line| line.split(',').nth(1).expect("an address")).collect();
    assert_eq!((text.lines().count(), addresses.len()), (20_002, 20_001));
}

#[test]
fn a_comment_is_changed_and_deleted() {
    let panel = Panel::start();
    let comment = panel.app.acme.comment(&panel.id, "<p>Soon</p>");
    let page = panel.page();
    let link = format!("/admin/comments/{comment}?on=1-dark-mode&#38;at=1");
    shows(&page, &[&link]);
    let path = format!("/admin/comments/{comment}");
    // With and without the parameters, which say where it is listed.
    for link in [link.replace("&#38;", "&"), path.clone(), format!("{path}?on=99&at=7"), format!("{path}?on=x&at=y")] {
        let page = panel.olga.page(&link);
        shows(&page, &["Comment of Olga", "Soon</textarea>", ">Save<", ">Delete comment<"]);
    }
    let preview =
        panel.olga.post(&path, &[("content", "**Later**"), ("preview", "1"), ("on", "1-dark-mode"), ("at", "1")]);
    assert_eq!(preview.status, 200);
    shows(&preview.text(), &["<strong>Later</strong>", "**Later**</textarea>"]);
    let refused = panel.olga.post(&path, &[("content", " ")]);
    assert_eq!(refused.status, 422);
    shows(&refused.text(), &["Comment is missing.", "There is a problem"]);
    let location = panel.olga.submit(&path, &[("content", "**Later**"), ("format", "markdown"), ("next", &panel.path)]);
    assert_eq!(location, panel.done("comment-saved"));
    assert_eq!(comments(&panel.app, &panel.id)[0]["content"], "<p><strong>Later</strong></p>\n");
    let entry = panel.audit(&comment);
    assert_eq!((entry.0, entry.1), (json!("Olga"), json!("comment.update")));
    let key = hidden(&panel.olga.page(&path), "operation_key");
    for _ in 0..2 {
        let fields = [("next", panel.path.as_str()), ("operation_key", key.as_str())];
        assert_eq!(panel.olga.submit(&format!("{path}/delete"), &fields), panel.done("comment-deleted"));
    }
    assert_eq!((comments(&panel.app, &panel.id).len(), panel.audit(&comment).1), (0, json!("comment.delete")));
    let gone = panel.olga.post(&path, &[("content", "A long answer")]);
    assert_eq!(gone.status, 404);
    shows(&gone.text(), &["A long answer</textarea>"]);
    for unknown in [path.as_str(), "/admin/comments/x"] {
        assert_eq!(panel.olga.get(unknown).status, 404, "{unknown}");
        assert_eq!(panel.olga.post(&format!("{unknown}/delete"), &[]).status, 404, "{unknown}");
    }
}

#[test]
fn a_comment_of_a_merged_one_is_found_and_its_description_is_none() {
    let panel = Panel::start();
    let (other, _) = request(&panel.app, "Night mode", "bob@example.com", false);
    let comment = panel.app.acme.comment(&other, "On the other");
    panel.app.acme.merge(&other, &panel.id);
    let page = panel.page();
    shows(region(&page, "comments-title"), &["On the other", "On the merged feature request"]);
    assert_eq!(page.matches("href=\"/admin/comments/").count(), 1, "{page}");
    shows(&panel.olga.page(&format!("/admin/comments/{comment}")), &["On the other</textarea>", "Night mode"]);
    assert_eq!(panel.olga.get(&format!("/admin/comments/{other}")).status, 404);
}

#[test]
fn comments_that_wait_are_approved_or_discarded() {
    let panel = Panel::start();
    let hold = |content: &str| panel.app.data.hold_comment(&panel.id, "ann@example.com", content, "1000");
    let (good, bad) = (hold("<p>Please</p>"), hold("<p>Spam</p>"));
    let page = panel.page();
    shows(region(&page, "comments-title"), &["Please", "Spam", "Awaiting approval", "Approve<", "Discard<"]);
    let next = [("next", panel.path.as_str())];
    let approve = format!("/admin/comments/{good}/approve");
    assert_eq!(panel.olga.submit(&approve, &next), panel.done("approved"));
    // A colleague was faster.
    assert_eq!(panel.olga.submit(&approve, &next), panel.done("unchanged"));
    assert_eq!(panel.olga.post(&approve, &[]).status, 404);
    let discard = format!("/admin/comments/{bad}/discard");
    assert_eq!(panel.olga.submit(&discard, &[]), format!("/admin/feature_requests/{}?done=discarded", panel.id));
    assert_eq!((panel.audit(&good).1, panel.audit(&bad).1), (json!("comment.approve"), json!("comment.delete")));
    let listed = comments(&panel.app, &panel.id);
    assert_eq!((listed.len(), &listed[0]["content"]), (1, &json!("<p>Please</p>")));
}
