//! The inbox and the overview of the team, at `/admin`: views, filters, what is done with many feature requests at once.

use serde_json::{Value, json};

use crate::app::{App, eventually, form_with};
use crate::browser::{Browser, encode, hidden};

const OLGA: &str = "olga@acme.example";

/// Starts a service whose member Olga is signed in.
fn started() -> (App, Browser) {
    let app = App::start();
    let olga = Browser::signed_in(&app, OLGA);
    (app, olga)
}

/// Creates a feature request of a customer. Returns its ID.
fn request(app: &App, title: &str, fields: &Value, email: &str) -> String {
    let mut request = json!({ "title": title });
    for (name, value) in fields.as_object().expect("fields") {
        request[name] = value.clone();
    }
    let body = json!({ "feature_request": request, "customer": { "email": email } });
    let response = app.acme.post_feature_request(&body);
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()["feature_request"]["id"].as_str().expect("an id").to_owned()
}

/// Creates feature requests of Ann with these titles.
fn requests<const N: usize>(app: &App, titles: [&str; N]) -> [String; N] {
    titles.map(|title| request(app, title, &json!({}), "ann@example.com"))
}

/// The titles of the rows, in their order.
fn titles(page: &str) -> Vec<String> {
    let rows = page.split("<th scope=\"row\" class=\"wide-cell\">").skip(1);
    rows.map(|row| between(row, "<bdi>", "</bdi>").to_owned()).collect()
}

/// The row of a title.
#[track_caller]
fn row<'a>(page: &'a str, title: &str) -> &'a str {
    let mut rows = page.split("<tr>").filter(|row| row.contains("<th scope=\"row\""));
    rows.find(|row| row.contains(&format!("<bdi>{title}</bdi>"))).unwrap_or_else(|| panic!("{title}: {page}"))
}

#[track_caller]
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let rest = text.split_once(start).unwrap_or_else(|| panic!("{start}: {text}")).1;
    rest.split_once(end).unwrap_or_else(|| panic!("{end}: {text}")).0
}

/// The views with their numbers.
fn views(page: &str) -> Vec<String> {
    let tabs = between(page, "<nav aria-label=\"Views\">", "</nav>");
    let links = tabs.split("<a ").skip(1);
    let tab = |link: &str| {
        let (name, rest) = link.split_once('>').expect("a name").1.split_once(" <span").expect("a number");
        format!("{name} {}", between(rest, ">", "<"))
    };
    links.map(tab).collect()
}

/// Sends the form of the inbox for these rows. Returns the path to which it leads.
#[track_caller]
fn triage(browser: &Browser, ids: &[&str], fields: &[(&str, &str)]) -> String {
    let form = form(browser, ids, fields, "/admin");
    browser.submit("/admin/triage", &form.iter().map(pair).collect::<Vec<_>>())
}

/// Sends a form of the inbox that is not accepted. Returns the page.
#[track_caller]
fn refused(browser: &Browser, ids: &[&str], fields: &[(&str, &str)]) -> String {
    let form = form(browser, ids, fields, "/admin");
    let response = browser.post("/admin/triage", &form.iter().map(pair).collect::<Vec<_>>());
    let page = response.text();
    assert_eq!(response.status, 422, "{page}");
    for part in ["<title>Error: ", "role=\"alert\"", "There is a problem", "aria-invalid=\"true\""] {
        assert!(page.contains(part), "{part}: {page}");
    }
    page
}

fn form(browser: &Browser, ids: &[&str], fields: &[(&str, &str)], next: &str) -> Vec<(String, String)> {
    let key = hidden(&browser.page(next), "operation_key");
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let ids = ids.iter().map(|id| owned(("id", id)));
    let mut form: Vec<_> = ids.chain(fields.iter().copied().map(owned)).collect();
    form.extend([owned(("operation_key", &key)), owned(("next", next))]);
    form
}

fn pair((name, value): &(String, String)) -> (&str, &str) {
    (name, value)
}

/// The actions of the latest entries of the audit log, newest first, by Olga on a page.
fn audited(app: &App, count: usize) -> Vec<Value> {
    let entries = app.acme.get_audit_entries(&format!("limit={count}")).json()["audit_entries"].clone();
    let entries = entries.as_array().expect("entries").iter().take(count);
    entries
        .map(|entry| {
            assert_eq!((&entry["actor"]["name"], &entry["channel"]), (&json!("Olga"), &json!("page")), "{entry}");
            entry["action"].clone()
        })
        .collect()
}

/// The latest notice of a page.
fn notice(page: &str) -> &str {
    let rest = page.split_once("role=\"status\">").unwrap_or_else(|| panic!("no notice: {page}")).1;
    let rest = if rest.starts_with("<svg") { rest.split_once("</svg>").expect("an icon").1 } else { rest };
    rest.split('<').next().expect("a sentence")
}

/// The first steps tick themselves, and are shown until all are done.
#[test]
fn a_new_workspace_is_shown_the_first_steps() {
    let (app, olga) = started();
    let done = |page: &str| {
        let steps = between(page, "<ol class=\"plain\">", "</ol>").split("<li>").skip(1);
        steps.map(|step| u8::from(step.contains("(done)"))).collect::<Vec<_>>()
    };
    let page = olga.page("/admin");
    assert!(page.contains("<h1>Inbox</h1>") && page.contains("Welcome</h2>"), "{page}");
    for link in
        ["/admin/mail", "/admin/settings", "/admin/tracks", "/admin/members", "/admin/feature_requests/new", "/"]
    {
        assert!(page.contains(&format!("class=\"linked\" href=\"{link}\"")), "{link}: {page}");
    }
    // The tests have no mail server.
    assert!(done(&page) == [0, 0, 0, 0, 0, 0] && page.contains("0 of 6 are done."), "{page}");
    assert!(!page.contains("<table"), "{page}");
    // A member cannot set up tracks.
    app.roadmap(&["member", "add", "--workspace", "acme", "--email", "mia@acme.example", "--name", "Mia"]);
    let mia = Browser::signed_in(&app, "mia@acme.example").page("/admin");
    assert!(!mia.contains("/admin/tracks\"") && !mia.contains("/admin/settings\""), "{mia}");
    assert_eq!((done(&mia), done(&olga.page("/admin"))), (vec![0, 0], vec![0, 0, 0, 1, 0, 0]));
    let ids = requests(&app, ["Dark mode"]);
    let page = olga.page("/admin");
    assert!(page.contains("<caption class=\"hidden\">Feature requests</caption>"), "{page}");
    assert_eq!(done(&page), [0, 0, 0, 1, 1, 1]);
    let tracks = app.acme.get_tracks().is_ok();
    app.acme.patch_track(&ids[0], &json!({ "track_id": tracks["tracks"][2]["id"] })).is_ok();
    let page = olga.page("/admin");
    assert!(done(&page) == [0, 0, 1, 1, 1, 1] && page.contains("4 of 6 are done."), "{page}");
    let file = app.acme.post_attachment(&form_with("logo.png", b"\x89PNG\r\n\x1a\n")).is_ok();
    app.acme.patch_portal(&json!({ "portal": { "logo_signed_id": file["signed_id"] } })).is_ok();
    assert_eq!(done(&olga.page("/admin")), [0, 1, 1, 1, 1, 1]);
    // Those of a member are done.
    assert!(!Browser::signed_in(&app, "mia@acme.example").page("/admin").contains("Welcome</h2>"));
    // A team with many feature requests has begun.
    for number in 0..24 {
        app.acme.feature_request(&format!("Wish {number}"));
    }
    assert!(!olga.page("/admin").contains("Welcome</h2>"));
}

#[test]
fn views_and_rows_say_what_waits() {
    let (app, olga) = started();
    let [dark, night, pdf] = requests(&app, ["Dark mode", "Night mode", "Export as PDF"]);
    request(&app, "Contract", &json!({ "private": true }), "ann@example.com");
    let idea = request(&app, "Spam", &json!({ "private": true }), "bob@example.com");
    app.data.hold_feature_request(&idea);
    let held = app.data.hold_comment(&dark, "bob@example.com", "<p>Me, too</p>", "1000");
    app.acme.comment(&pdf, "We are on it.");
    app.acme.merge(&night, &dark);
    app.acme.vote(&dark, "bob@example.com");

    let page = olga.page("/admin");
    assert_eq!(titles(&page), ["Spam", "Contract", "Export as PDF", "Dark mode"]);
    let expected =
        ["Open 4", "No answer yet 1", "New reply 0", "Awaiting approval 2", "Private 2", "Merged 1", "All 4"];
    assert_eq!(views(&page), expected);
    let link = |path: &str, words: &str| format!("<a href=\"{path}\"><bdi>{words}</bdi></a>");
    let of_dark = row(&page, "Dark mode");
    for part in [
        "aria-label=\"Select Dark mode\"",
        &format!("value=\"{dark}\""),
        &link("/admin/feature_requests/1-dark-mode?list=&#38;at=3", "Dark mode"),
        "<span class=\"warn\">No answer yet</span>",
        "<span class=\"warn\">1 comment waiting</span>",
        "<td class=\"num\">2</td>",
        "<td class=\"num only-wide\">0</td>",
        "<bdi>ann@example.com</bdi>",
    ] {
        assert!(of_dark.contains(part), "{part}: {of_dark}");
    }
    assert!(!row(&page, "Export as PDF").contains("No answer yet"), "{page}");
    assert!(row(&page, "Contract").contains("Private") && row(&page, "Spam").contains("Awaiting approval"), "{page}");
    assert!(!page.contains(&format!("value=\"{night}\"")), "{page}");

    assert_eq!(titles(&olga.page("/admin?state=unanswered")), ["Dark mode"]);
    assert_eq!(titles(&olga.page("/admin?state=private")), ["Spam", "Contract"]);
    // What is merged is listed with its target. It cannot be ticked: a change would be one of the target.
    let page = olga.page("/admin?state=merged");
    let of_night = row(&page, "Night mode");
    assert!(
        of_night.contains("Merged into ")
            && of_night.contains(&link("/admin/feature_requests/1-dark-mode", "Dark mode"))
    );
    assert!(of_night.contains("href=\"/admin/feature_requests/2-night-mode/merge\""), "{page}");
    assert!(!page.contains("type=\"checkbox\" id=\"select-") && !page.contains("Change selected"), "{page}");
    // Comments wait beside ideas.
    let page = olga.page("/admin?state=awaiting");
    assert_eq!(titles(&page), ["Spam"]);
    for part in ["Comments that wait for approval", "<p>Me, too</p>", "bob@example.com"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for action in ["approve", "discard"] {
        assert!(page.contains(&format!("action=\"/admin/comments/{held}/{action}\"")), "{page}");
    }
}

#[test]
fn filters_are_addresses() {
    let (app, olga) = started();
    let [dark, export] = requests(&app, ["Dark mode", "Export as PDF"]);
    let tagged = request(&app, "Night shift", &json!({ "tags": ["Design"] }), "bob@example.com");
    app.acme.vote(&dark, "bob@example.com");
    app.acme.vote(&dark, "cleo@example.com");
    let planned = app.track("Planned");
    assert_eq!(app.acme.patch_track(&export, &json!({ "track_id": planned })).status, 200);
    app.acme.comment(&tagged, "Thank you.");
    let titles_of = |query: &str| titles(&olga.page(&format!("/admin?{query}")));
    assert_eq!(titles_of(&format!("track={planned}")), ["Export as PDF"]);
    assert_eq!(titles_of("tag=design"), ["Night shift"]);
    assert_eq!(titles_of("mine=1"), ["Night shift"]);
    assert_eq!(titles_of("sort=votes"), ["Dark mode", "Night shift", "Export as PDF"]);
    assert_eq!(titles_of("sort=oldest"), ["Dark mode", "Export as PDF", "Night shift"]);
    assert_eq!(titles_of("sort=nonsense&page=x"), ["Night shift", "Export as PDF", "Dark mode"]);
    assert_eq!(titles_of("query=export"), ["Export as PDF"]);
    assert_eq!(titles_of("query=%231"), ["Dark mode"]);
    assert_eq!(titles_of(&format!("query=export&track={}", app.track("Done"))), [""; 0]);
    let page = olga.page("/admin");
    let tracks = between(&page, "<legend>Tracks</legend>", "</fieldset>");
    let offered: Vec<&str> = tracks.split("<bdi>").skip(1).filter_map(|track| track.split('<').next()).collect();
    assert_eq!(offered, ["Inbox (2)", "Under consideration (0)", "Planned (1)", "In progress (0)"]);
    let two = titles_of(&format!("track={planned}&track={}&track=nonsense", app.track("Inbox")));
    assert_eq!(two, ["Night shift", "Export as PDF", "Dark mode"]);
    let lanes = between(&page, "id=\"filter-lane\"", "</select>");
    let lane = lanes.split("<option value=\"").find(|option| option.contains(">Planned<")).expect("the lane");
    assert_eq!(titles_of(&format!("lane={}", lane.split('"').next().expect("an id"))), ["Export as PDF"]);
    // A filter that nothing matches says so, and what was typed stays.
    for (query, sentence) in [
        ("tag=none", "Nothing matches"),
        ("track=nonsense", "Nothing matches"),
        ("lane=nonsense", "Nothing matches"),
        ("query=zebra", "Nothing matches"),
        ("state=awaiting", "Nothing waits for approval"),
        ("state=private", "Nothing is private"),
        ("state=merged", "Nothing is merged"),
        ("page=9", "This page is empty"),
    ] {
        let page = olga.page(&format!("/admin?{query}"));
        assert!(page.contains(&format!("<h2>{sentence}</h2>")), "{query}: {page}");
    }
    let page = olga.page("/admin?state=private&query=%22zebra%22&tag=a%26b&mine=1&sort=votes");
    for part in [
        "name=\"state\" value=\"private\"",
        "value=\"&#34;zebra&#34;\"",
        "value=\"a&#38;b\"",
        "value=\"1\" checked",
        "<option value=\"votes\" selected>",
        "<details class=\"more\" open>",
        "href=\"/admin?state=private&#38;sort=votes\"",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

/// A member saves a list under a name, which nobody else sees, and removes it.
#[test]
fn a_member_saves_views() {
    let (app, olga) = started();
    requests(&app, ["Dark mode"]);
    let own = |browser: &Browser, path: &str| {
        let page = browser.page(path);
        let saved = page.split_once("class=\"tabs own-views\"").map(|(_, rest)| between(rest, ">", "</ul>").to_owned());
        (saved.unwrap_or_default(), page.contains("Save this view"))
    };
    assert_eq!(own(&olga, "/admin?state=all"), (String::new(), false), "that view is a link already");
    let list = "/admin?state=all&tag=a%26b&sort=votes";
    assert_eq!(own(&olga, &format!("{list}&page=2")), (String::new(), true));
    let save = |name: &str| olga.post("/admin/views", &[("name", name), ("next", &format!("{list}&page=2"))]);
    let saved = save(" Bugs <b> ");
    assert_eq!((saved.status, saved.header("location")), (303, Some(&*format!("{list}&done=view-saved"))));
    let (views, can_save) = own(&olga, &format!("{list}&done=view-saved"));
    assert!(views.contains("aria-current=\"true\"><bdi>Bugs &#60;b&#62;</bdi>"), "{views}");
    assert!(views.contains("aria-label=\"Remove view Bugs &#60;b&#62;\"") && !can_save, "{views}");
    let (views, _) = own(&olga, "/admin");
    assert!(views.contains("href=\"/admin?state=all&#38;tag=a%26b&#38;sort=votes\"><bdi>"), "{views}");
    for (name, sentence) in
        [("Bugs <b>", "You have a view with this name."), ("", "Name is missing."), (&*"x".repeat(41), "40")]
    {
        let page = save(name);
        assert_eq!(page.status, 422, "{name}");
        let page = page.text();
        assert!(between(&page, "id=\"view-name-error\">", "</p>").contains(sentence), "{page}");
        assert!(page.contains(&format!("value=\"{}\"", name.replace('<', "&#60;").replace('>', "&#62;"))), "{page}");
    }
    app.roadmap(&["member", "add", "--workspace", "acme", "--email", "ines@acme.example", "--name", "Ines"]).json();
    let ines = Browser::signed_in(&app, "ines@acme.example");
    assert_eq!(own(&ines, "/admin").0, "");
    let remove = || olga.submit("/admin/views/remove", &[("name", "Bugs <b>"), ("next", list)]);
    for _ in 0..2 {
        assert_eq!(remove(), format!("{list}&done=view-removed"));
    }
    assert_eq!(own(&olga, list), (String::new(), true));
}

/// What is open, what has no answer, and what has a new reply; the number beside the inbox is that of the last two.
#[test]
fn what_is_done_is_not_open_and_thanks_are_no_question() {
    let (app, olga) = started();
    let [dark, pdf, quiet] = requests(&app, ["Dark mode", "Export as PDF", "Night shift"]);
    assert_eq!(app.acme.patch_track(&dark, &json!({ "track_id": app.track("Done") })).status, 200);
    assert_eq!(app.acme.patch_track(&quiet, &json!({ "track_id": app.track("Declined") })).status, 200);
    app.acme.comment_by(&dark, "ann@example.com", "Works. Thank you!");
    let page = olga.page("/admin");
    assert_eq!(titles(&page), ["Export as PDF"]);
    let expected =
        ["Open 1", "No answer yet 1", "New reply 1", "Awaiting approval 0", "Private 0", "Merged 0", "All 3"];
    assert_eq!(views(&page), expected);
    assert!(page.contains("2 wait for the team"), "{page}");
    assert_eq!(titles(&olga.page("/admin?state=unanswered")), ["Export as PDF"]);
    let page = olga.page("/admin?state=replied");
    assert_eq!(titles(&page), ["Dark mode"]);
    assert!(row(&page, "Dark mode").contains("<span class=\"warn\">New reply</span>"), "{page}");
    // A member says that neither needs an answer.
    let page = olga.page("/admin/feature_requests/1-dark-mode");
    let action = "/admin/feature_requests/1-dark-mode/no_answer_needed";
    assert!(page.contains(&format!("action=\"{action}\"")) && page.contains("New reply"), "{page}");
    let path = olga.submit(action, &[]);
    let page = olga.page(&path);
    assert_eq!(notice(&page), "It needs no answer until a customer writes again.");
    assert!(!page.contains("New reply") && !page.contains(action) && page.contains("No answer needed"), "{page}");
    let path = triage(&olga, &[&pdf, &dark], &[("change", "no-answer-needed")]);
    assert_eq!(notice(&olga.page(&path)), "1 feature request needs no answer until a customer writes again.");
    let said = "feature_request.no_answer_needed";
    assert_eq!(audited(&app, 2), [said, said]);
    let none = ["Open 1", "No answer yet 0", "New reply 0", "Awaiting approval 0", "Private 0", "Merged 0", "All 3"];
    assert_eq!(views(&olga.page("/admin")), none);
    app.acme.comment_by(&pdf, "ann@example.com", "Any news?");
    assert_eq!(titles(&olga.page("/admin?state=replied")), ["Export as PDF"]);
    let overview = app.acme.get("/api/external/v1/overview").json();
    assert_eq!(overview["overview"]["replied"][0]["title"], "Export as PDF", "{overview}");
}

#[test]
fn a_page_has_fifty_rows() {
    let (app, olga) = started();
    for number in 1..=51 {
        app.acme.feature_request(&format!("Number {number}"));
    }
    let page = olga.page("/admin");
    assert_eq!((titles(&page).len(), titles(&page)[0].as_str()), (50, "Number 51"));
    assert!(page.contains("Page 1 of 2") && page.contains("href=\"/admin?page=2\""), "{page}");
    let page = olga.page("/admin?page=2");
    assert_eq!(titles(&page), ["Number 1"]);
    assert!(page.contains("href=\"/admin\" rel=\"prev\""), "{page}");
    // A search shows on one page all that it has found: private ones, and at most fifty others.
    for number in 1..=20 {
        request(&app, &format!("Secret number {number}"), &json!({ "private": true }), "ann@example.com");
    }
    let page = olga.page("/admin?query=number");
    let count = titles(&page).len();
    assert!(count > 50, "{count}");
    assert!(page.contains(&format!(">{count} results<")) && !page.contains("Page 1 of 2"), "{page}");
}

#[test]
fn a_search_is_ordered_by_relevance_or_as_chosen() {
    let (app, olga) = started();
    requests(&app, ["Dark mode", "Dark theme for printed modes"]);
    let sorts = |query: &str| between(&olga.page(&format!("/admin?{query}")), "id=\"sort\"", "</select>").to_owned();
    let listed = sorts("sort=updated");
    assert!(listed.contains("<option value=\"updated\" selected>"), "{listed}");
    let options = sorts("query=dark&sort=updated");
    assert!(options.contains("<option value=\"newest\" selected>") && !options.contains("\"updated\""), "{options}");
    // Words that are typed into a list which nobody has ordered are sent with the order that its form shows.
    let order = sorts("");
    let (_, selected) = order.split_once("<option value=\"").expect("an option");
    let value = selected.split_once("\" selected>Newest<").expect("the order").0;
    let results = |sort: &str| titles(&olga.page(&format!("/admin?query=dark+mode&sort={sort}")));
    assert_eq!(results("newest"), ["Dark theme for printed modes", "Dark mode"]);
    assert_eq!(results(value), ["Dark mode", "Dark theme for printed modes"]);
}

#[test]
fn searches_on_other_pages_of_the_team_say_what_is_wrong() {
    let (app, olga) = started();
    requests(&app, ["Dark mode"]);
    let long = "a".repeat(1_001);
    let refused = olga.get(&format!("/admin/feature_requests/1-dark-mode/merge?query={long}"));
    let sentence = "<a href=\"#query\">Search is too long. It can have 1,000 characters at most.</a>";
    assert!(refused.status == 422 && refused.text().contains(sentence), "{}", refused.text());
    // A blank search in the form of a changelog is none.
    let page = olga.post("/admin/changelogs/new", &[("title", "New"), ("query", " "), ("do", "find")]);
    assert!(page.status == 200 && page.text().contains("value=\"New\""), "{}", page.text());
    assert!(!page.text().contains("Nothing found"), "{}", page.text());
    // The Enter key searches if something to search was typed, and saves otherwise.
    let page = olga.post("/admin/changelogs/new", &[("title", "New"), ("query", "dark"), ("do", "enter")]);
    assert!(page.status == 200 && page.text().contains("Dark mode</bdi>"), "{}", page.text());
    let fields = [("title", "New"), ("content", "Text"), ("query", ""), ("do", "enter")];
    let saved = olga.submit("/admin/changelogs/new", &fields);
    assert!(saved.ends_with("?done=changelog-saved"), "{saved}");
}

#[test]
fn a_refused_track_or_lane_leads_back_to_their_page() {
    let (_app, olga) = started();
    for (path, field) in [("/admin/tracks", "track-name"), ("/admin/lanes", "lane-name")] {
        let refused = olga.post(path, &[(field, " ")]);
        assert_eq!(refused.status, 422, "{path}");
        let page = refused.text();
        // The form for the language and the theme comes back to it.
        let preferences = between(&page, "action=\"/preferences\"", "</form>");
        assert!(preferences.contains("name=\"next\" value=\"/admin/tracks\""), "{preferences}");
    }
}

#[test]
fn the_selected_are_moved() {
    let (app, olga) = started();
    let [dark, night, pdf] = requests(&app, ["Dark mode", "Night mode", "Export as PDF"]);
    let planned = app.track("Planned");
    let fields = form(&olga, &[&dark, &night], &[("change", &planned)], "/admin?sort=oldest");
    let fields: Vec<_> = fields.iter().map(pair).collect();
    let path = olga.submit("/admin/triage", &fields);
    assert_eq!(without_undo(&path), format!("/admin?sort=oldest&done=moved&count=2&to={planned}"));
    assert_eq!(notice(&olga.page(&path)), "2 feature requests were moved to “Planned”. Nobody got mail.");
    let track = |id: &str| app.acme.detail(id)["track"].clone();
    let placed = [track(&dark), track(&night), track(&pdf)].map(|track| track.to_string().contains("Planned"));
    assert_eq!(placed, [true, true, false]);
    assert_eq!(audited(&app, 2), ["feature_request.move", "feature_request.move"]);
    // The same form once more does nothing more, and says the same.
    assert_eq!(olga.submit("/admin/triage", &fields), path);
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE action = 'feature_request.move'"), 2);
    // What is there already is not counted.
    let path = triage(&olga, &[&dark, &pdf], &[("change", &planned)]);
    assert_eq!(without_undo(&path), format!("/admin?done=moved&count=1&to={planned}"));
    let path = triage(&olga, &[&dark], &[("change", &planned)]);
    assert_eq!(path, "/admin?done=unchanged");
    assert_eq!(notice(&olga.page(&path)), "Nothing had to be changed.");
    // A foreign path is not followed.
    let fields = [("id", dark.as_str()), ("change", &planned), ("next", "//evil.example/admin")];
    assert_eq!(olga.submit("/admin/triage", &fields), "/admin?done=unchanged");
}

#[test]
fn the_selected_are_tagged_hidden_and_shown() {
    let (app, olga) = started();
    let [dark, night] = requests(&app, ["Dark mode", "Night mode"]);
    let path = triage(&olga, &[&dark, &night], &[("tag", " Design "), ("change", "add-tag")]);
    assert_eq!(without_undo(&path), "/admin?done=tagged&count=2");
    assert_eq!(notice(&olga.page(&path)), "2 feature requests were tagged.");
    assert_eq!(app.acme.detail(&night)["tags"], json!(["Design"]));
    // Whoever has a tag does not get it again.
    let path = triage(&olga, &[&dark], &[("tag", "design"), ("change", "add-tag")]);
    assert_eq!(path, "/admin?done=unchanged");
    let path = triage(&olga, &[&dark, &night], &[("change", "private")]);
    assert_eq!(notice(&olga.page(&path)), "2 feature requests are private now.");
    assert_eq!(app.acme.detail(&dark)["private"], json!(true));
    let path = triage(&olga, &[&night], &[("change", "public")]);
    assert_eq!(notice(&olga.page(&path)), "1 feature request is public now.");
    assert_eq!(
        (&app.acme.detail(&dark)["private"], &app.acme.detail(&night)["private"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(audited(&app, 5), ["feature_request.update"; 5]);
}

/// Returns a path without the time of what can be undone.
fn without_undo(path: &str) -> &str {
    path.split_once("&undo=").map_or(path, |(path, _)| path)
}

/// Presses *Undo* beside the notice of a page.
fn undo(olga: &Browser, path: &str) -> String {
    let page = olga.page(path);
    let form = between(&page, "action=\"/admin/undo\"", "</form>");
    let fields = ["at", "next", "operation_key"].map(|name| (name, hidden(form, name)));
    let next = olga.submit("/admin/undo", &fields.each_ref().map(|(name, value)| (*name, value.as_str())));
    // The same form once more does nothing more, and says the same.
    assert_eq!(olga.submit("/admin/undo", &fields.each_ref().map(|(name, value)| (*name, value.as_str()))), next);
    next
}

/// Moves, tags and visibility can be undone; what others have changed since stays, and so does what is older than an hour.
#[test]
fn what_was_done_with_the_selected_is_undone() {
    let (app, olga) = started();
    let [dark, night, pdf] = requests(&app, ["Dark mode", "Night mode", "Export as PDF"]);
    let (planned, inbox) = (app.track("Planned"), app.track("Inbox"));
    let track = |id: &str| app.acme.detail(id)["track"].clone();
    // A move, of which one was moved elsewhere since.
    let path = triage(&olga, &[&dark, &night, &pdf], &[("change", &planned)]);
    app.acme.patch_track(&pdf, &json!({ "track_id": app.track("Done") })).is_ok();
    let path = undo(&olga, &path);
    assert_eq!(path, "/admin?done=undone&count=2&kept=1");
    let page = olga.page(&path);
    assert!(page.contains("2 changes were undone. 1 stays as it is, because somebody has changed it since."), "{page}");
    assert_eq!([&dark, &night, &pdf].map(|id| track(id)), ["Inbox", "Inbox", "Done"].map(|name| json!(name)));
    assert_eq!(audited(&app, 2), ["feature_request.move", "feature_request.move"]);
    // Tags: what somebody has added since stays.
    let path = triage(&olga, &[&dark, &night], &[("tag", "Design"), ("change", "add-tag")]);
    let tags = json!({ "feature_request": { "tags": ["Design", "API"] } });
    app.acme.patch_feature_request(&dark, &tags).is_ok();
    assert_eq!(undo(&olga, &path), "/admin?done=undone&count=2");
    assert_eq!((&app.acme.detail(&dark)["tags"], &app.acme.detail(&night)["tags"]), (&json!(["API"]), &json!([])));
    let path = triage(&olga, &[&dark, &night], &[("tag", "api"), ("change", "remove-tag")]);
    assert_eq!(without_undo(&path), "/admin?done=untagged&count=1");
    assert_eq!(app.acme.detail(&dark)["tags"], json!([]));
    assert_eq!(undo(&olga, &path), "/admin?done=undone&count=1");
    assert_eq!(app.acme.detail(&dark)["tags"], json!(["API"]));
    // Visibility; what somebody has undone already is nothing to undo.
    let path = triage(&olga, &[&dark], &[("change", "private")]);
    assert_eq!(undo(&olga, &path), "/admin?done=undone&count=1");
    assert_eq!(app.acme.detail(&dark)["private"], json!(false));
    let page = olga.page(&path);
    let at = hidden(between(&page, "action=\"/admin/undo\"", "</form>"), "at");
    let again = olga.submit("/admin/undo", &[("at", &at), ("next", "/admin?tag=a")]);
    assert_eq!(again, "/admin?tag=a&done=undone-none");
    assert_eq!(notice(&olga.page(&again)), "Nothing was undone: somebody has changed it since.");
    // Only one's own changes, and only of late.
    let path = triage(&olga, &[&night], &[("change", &planned)]);
    let at = hidden(between(&olga.page(&path), "action=\"/admin/undo\"", "</form>"), "at");
    app.roadmap(&["member", "add", "--workspace", "acme", "--email", "mia@acme.example", "--name", "Mia"]);
    let mia = Browser::signed_in(&app, "mia@acme.example");
    for (browser, at) in [(&mia, at.as_str()), (&olga, ""), (&olga, "x"), (&olga, "1"), (&olga, "99999999999999")] {
        assert_eq!(browser.submit("/admin/undo", &[("at", at)]), "/admin?done=undo-late", "{at}");
    }
    assert_eq!(track(&night), json!("Planned"));
    assert!(!olga.page("/admin?done=moved&count=1&undo=1").contains("/admin/undo"));
    // What cannot be undone has no button.
    for change in ["no-answer-needed", inbox.as_str()] {
        let path = triage(&olga, &[&dark], &[("change", change)]);
        assert!(!olga.page(&path).contains("/admin/undo"), "{change}");
    }
}

/// Deleting asks first; one with others merged into it is deleted on its own page.
#[test]
fn the_selected_are_deleted() {
    let (app, olga) = started();
    let [dark, night, pdf, spam] = requests(&app, ["Dark <mode>", "Night mode", "Export as PDF", "Spam"]);
    let path = triage(&olga, &[&dark, &spam], &[("change", "delete")]);
    assert_eq!(path, format!("/admin/delete?id={dark}&id={spam}&next=%2Fadmin"));
    let page = olga.page(&path);
    for part in ["Delete 2 feature requests?", "Dark &#60;mode&#62;", "Spam", "This cannot be undone."] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(app.acme.get_feature_request(&dark).status, 200);
    app.acme.merge(&night, &pdf);
    let refused = olga.post("/admin/delete", &[("id", &spam), ("id", &pdf)]);
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("Nothing was deleted."), "{}", refused.text());
    assert_eq!(app.acme.get_feature_request(&spam).status, 200);
    let fields = [("id", dark.as_str()), ("id", &spam), ("id", &night), ("next", "/admin?sort=oldest")];
    let path = olga.submit("/admin/delete", &fields);
    // The merged one is left out.
    assert_eq!(path, "/admin?sort=oldest&done=requests-deleted&count=2");
    assert_eq!(notice(&olga.page(&path)), "2 feature requests were deleted.");
    for (id, status) in [(&dark, 404), (&spam, 404), (&night, 200), (&pdf, 200)] {
        assert_eq!(app.acme.get_feature_request(id).status, status);
    }
    assert_eq!(audited(&app, 2), ["feature_request.delete", "feature_request.delete"]);
    assert!(olga.page("/admin/delete").contains("Select feature requests in the inbox"));
}

/// A row has the beginning of the text, tags and notes; its page leads to the ones before and after in the list.
#[test]
fn pages_lead_through_the_list_from_which_they_were_opened() {
    let (app, olga) = started();
    let [dark, night, pdf] = requests(&app, ["Dark mode", "Night mode", "Export as PDF"]);
    let edit = json!({ "feature_request": { "description": "Less <b>light</b>", "tags": ["UI"] } });
    app.acme.patch_feature_request(&night, &edit).is_ok();
    olga.submit(&format!("/admin/feature_requests/{night}/notes"), &[("note", "Renews in May")]);
    let list = olga.page("/admin?sort=oldest&state=unanswered");
    for part in [
        "<span class=\"line\" dir=\"auto\"><span>Less light</span></span>",
        "<bdi>#UI</bdi>",
        "<span>1 private note</span>",
    ] {
        assert!(list.contains(part), "{part}: {list}");
    }
    let at = |place: u32| format!("?list=state%3Dunanswered%26sort%3Doldest&#38;at={place}");
    assert!(list.contains(&format!("/admin/feature_requests/1-dark-mode{}", at(0))), "{list}");
    let links = |page: &str| {
        ["prev", "next"].map(|rel| {
            let mut links = page.split("<a class=\"button button--small\" href=\"").skip(1);
            let link = links.find(|link| link.contains(&format!("rel=\"{rel}\"")));
            link.and_then(|link| link.split('"').next()).unwrap_or_default().to_owned()
        })
    };
    let path = |slug: &str, place: u32| format!("/admin/feature_requests/{slug}{}", at(place));
    let open = |slug: &str, place: u32| olga.page(&path(slug, place).replace("&#38;", "&"));
    assert_eq!(links(&open("1-dark-mode", 0)), [String::new(), path("2-night-mode", 1)]);
    assert_eq!(links(&open("2-night-mode", 1)), [path("1-dark-mode", 0), path("3-export-as-pdf", 2)]);
    assert_eq!(links(&open("3-export-as-pdf", 2)), [path("2-night-mode", 1), String::new()]);
    assert_eq!(links(&olga.page("/admin/feature_requests/2-night-mode")), [String::new(), String::new()]);
    // What is done on a page keeps the place: the answered one is not in the list any more, and the next one has its place.
    let page = open("2-night-mode", 1);
    let action = between(&page, "stack\" method=\"post\" action=\"", "\"").replace("&#38;", "&");
    assert!(action.contains("/track?list="), "{action}");
    let comments = action.replace("/track?", "/comments?");
    let next = olga.submit(&comments, &[("content", "Soon")]);
    assert_eq!(next, format!("{}&done=answered", path("2-night-mode", 1).replace("&#38;", "&")));
    assert_eq!(links(&olga.page(&next)), [path("1-dark-mode", 0), path("3-export-as-pdf", 1)]);
    // *Move and next* leads to it, and at the end back to the list.
    let planned = app.track("Planned");
    let next = olga.submit(&action, &[("track", &planned), ("then", "next")]);
    assert_eq!(next, format!("{}&done=moved", path("3-export-as-pdf", 1).replace("&#38;", "&")));
    let action = action.replace("2-night-mode", "3-export-as-pdf");
    let next = olga.submit(&action, &[("track", &planned), ("then", "next")]);
    assert_eq!(next, "/admin?state=unanswered&sort=oldest&done=moved");
    for id in [&night, &pdf] {
        assert_eq!(app.acme.detail(id)["track"], json!("Planned"));
    }
    // Without a list there is no next one.
    let path = format!("/admin/feature_requests/{dark}/track");
    let next = olga.submit(&path, &[("track", &planned), ("then", "next")]);
    assert_eq!(next, "/admin/feature_requests/1-dark-mode?done=moved");
}

#[test]
fn the_selected_are_approved_and_declined() {
    let (app, olga) = started();
    let hold = |title: &str| {
        let id = request(&app, title, &json!({ "private": true }), "ann@example.com");
        app.data.hold_feature_request(&id);
        id
    };
    let (dark, spam) = (hold("Dark mode"), hold("Spam"));
    let [public] = requests(&app, ["Public"]);
    let path = triage(&olga, &[&dark, &public], &[("change", "approve")]);
    assert_eq!(notice(&olga.page(&path)), "1 feature request was approved.");
    let path = triage(&olga, &[&spam], &[("change", "decline")]);
    assert_eq!(notice(&olga.page(&path)), "1 feature request was declined and stays private.");
    assert_eq!((&app.acme.detail(&dark)["private"], &app.acme.detail(&spam)["private"]), (&json!(false), &json!(true)));
    assert_eq!(audited(&app, 2), ["feature_request.decline", "feature_request.approve"]);
    assert_eq!(views(&olga.page("/admin"))[3], "Awaiting approval 0");
}

#[test]
fn a_form_with_a_problem_changes_nothing_and_keeps_everything() {
    let (app, olga) = started();
    let [dark, night] = requests(&app, ["Dark mode", "Night mode"]);
    let planned = app.track("Planned");
    let gone = "01890a5d-ac96-774b-bcce-b302099a8057";
    let before = app.count("SELECT count(*) FROM audit_entries");
    let page = refused(&olga, &[], &[("change", &planned)]);
    assert!(page.contains("<a href=\"#select-1\">Nothing is selected."), "{page}");
    assert!(page.contains(&format!("<option value=\"{planned}\" selected>")), "{page}");
    let page = refused(&olga, &[&night], &[("change", "")]);
    assert!(page.contains("<a href=\"#change\">Choose what is done"), "{page}");
    assert!(
        page.contains(&format!("value=\"{night}\" checked")) && page.matches("\" checked aria").count() == 1,
        "{page}"
    );
    let page = refused(&olga, &[&night], &[("change", gone)]);
    assert!(page.contains("This track does not exist any more."), "{page}");
    refused(&olga, &[&night], &[]);
    let page = refused(&olga, &[&night], &[("change", "add-tag"), ("tag", " ")]);
    assert!(page.contains("<a href=\"#tag\">Tag is missing."), "{page}");
    let long = "a".repeat(300);
    let page = refused(&olga, &[&dark, &night], &[("change", "add-tag"), ("tag", &long)]);
    assert!(page.contains("Tag is too long.") && page.contains(&long), "{page}");
    let page = refused(&olga, &[&night], &[("change", "merge")]);
    assert!(page.contains("select at least two feature requests"), "{page}");
    let many: Vec<String> = (0..101).map(|number| format!("01890a5d-ac96-774b-bcce-b302099a8{number:03}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let page = refused(&olga, &many, &[("change", "private")]);
    assert!(page.contains("Select at most 100 feature requests."), "{page}");
    assert_eq!(app.count("SELECT count(*) FROM audit_entries"), before);
    // Nobody has more than 20 tags, and then none of them is changed.
    let tags: Vec<String> = (0..20).map(|number| format!("tag {number}")).collect();
    let full = request(&app, "Full", &json!({ "tags": tags }), "ann@example.com");
    let page = refused(&olga, &[&dark, &full], &[("change", "add-tag"), ("tag", "one more")]);
    assert!(page.contains("has 20 tags already") && page.contains("value=\"one more\""), "{page}");
    assert_eq!(app.acme.detail(&dark)["tags"], json!([]));
    // What was merged since the page was opened is not changed in place of its target.
    app.acme.merge(&night, &dark);
    let page = refused(&olga, &[&night], &[("change", "private")]);
    assert!(page.contains("was merged into another one meanwhile"), "{page}");
    assert_eq!(app.acme.detail(&dark)["private"], json!(false));
    // What was deleted is left out.
    app.acme.delete_feature_request(&full, "");
    assert_eq!(triage(&olga, &[&full], &[("change", "private")]), "/admin?done=unchanged");
    // The list is the one from which the form was sent.
    let fields = form(&olga, &[], &[("action", "apply")], "/admin?sort=oldest");
    let page = olga.post("/admin/triage", &fields.iter().map(pair).collect::<Vec<_>>()).text();
    assert!(page.contains("<option value=\"oldest\" selected>"), "{page}");
}

#[test]
fn the_selected_are_merged_after_a_question() {
    let (app, olga) = started();
    let [dark, night, pdf] = requests(&app, ["Dark mode", "Night mode", "Export as PDF"]);
    app.acme.vote(&night, "bob@example.com");
    let path = triage(&olga, &[&dark, &night], &[("change", "merge")]);
    let query = encode(&[("id", &dark), ("id", &night), ("next", "/admin")]);
    assert_eq!(path, format!("/admin/merge?{query}"));
    let page = olga.page(&path);
    // Ann counts once. The most voted one is chosen.
    for part in [
        "<h1>Merge feature requests</h1>",
        "Together they have 2 votes. 1 customer voted for both and counts once.",
        &format!("name=\"target\" value=\"{night}\" checked"),
        "Dark mode",
        "2 votes",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(page.matches(" checked").count(), 1, "{page}");
    assert_eq!(app.acme.detail(&dark)["votes_count"], json!(1));
    let key = hidden(&page, "operation_key");
    let ids = [("id", dark.as_str()), ("id", &night), ("next", "/admin?sort=votes"), ("action", "merge")];
    let merge =
        |target: &str| olga.post("/admin/triage", &[&ids[..], &[("target", target), ("operation_key", &key)]].concat());
    for target in ["", "nonsense", &pdf] {
        let refused = merge(target);
        assert_eq!(refused.status, 422, "{target}");
        assert!(refused.text().contains("<a href=\"#target-1\">Choose the feature request"), "{}", refused.text());
    }
    for _ in 0..2 {
        let done = merge(&night);
        assert_eq!((done.status, done.header("location")), (303, Some("/admin?sort=votes&done=merged&count=1")));
    }
    let merged = app.acme.detail(&night);
    assert_eq!((&merged["votes_count"], &merged["merged"][0]["id"]), (&json!(2), &json!(dark)));
    assert_eq!(audited(&app, 1), ["feature_request.merge"]);
    // Of more than two, the page says how they are counted.
    let [one, two] = requests(&app, ["One", "Two"]);
    let path = triage(&olga, &[&one, &two, &pdf], &[("change", "merge")]);
    assert!(olga.page(&path).contains("Each customer counts once, also who voted for several of them."));
    let page = olga.page("/admin/merge");
    assert!(page.contains("Select at least two feature requests") && !page.contains("name=\"target\""), "{page}");
}

#[test]
fn a_merge_that_is_not_possible_is_explained() {
    let (app, olga) = started();
    let [dark, night, other] = requests(&app, ["Dark mode", "Night mode", "Other"]);
    let secret = request(&app, "Contract", &json!({ "private": true }), "ann@example.com");
    app.acme.vote(&secret, "bob@example.com");
    let query = |ids: [&str; 2]| format!("/admin/merge?{}", encode(&[("id", ids[0]), ("id", ids[1])]));
    // A private one is not suggested, although it has more votes.
    let page = olga.page(&query([&dark, &secret]));
    assert!(page.contains(&format!("value=\"{dark}\" checked")) && page.contains("stay hidden"), "{page}");
    let merge = |ids: [&str; 2], target: &str| {
        let response =
            olga.post("/admin/triage", &[("id", ids[0]), ("id", ids[1]), ("target", target), ("action", "merge")]);
        assert_eq!(response.status, 422, "{}", response.text());
        assert!(response.text().contains("<title>Error: Merge"), "{}", response.text());
        response.text()
    };
    let page = merge([&dark, &secret], &secret);
    assert!(page.contains("cannot become part of a private one: its voters"), "{page}");
    assert!(page.contains(&format!("value=\"{secret}\" checked")), "{page}");
    app.acme.merge(&night, &other);
    let page = merge([&dark, &night], &dark);
    assert!(page.contains("was merged into another feature request meanwhile"), "{page}");
    app.acme.delete_feature_request(&secret, "");
    let page = merge([&dark, &secret], &secret);
    assert!(page.contains("This feature request does not exist any more."), "{page}");
    assert_eq!(app.acme.detail(&dark)["merged"], json!([]));
}

#[test]
fn keyboard_shortcuts_are_off_until_they_are_switched_on() {
    let (app, olga) = started();
    requests(&app, ["Dark mode"]);
    let page = olga.page("/admin");
    assert!(page.contains("Keyboard shortcuts: off</button>"), "{page}");
    assert!(!page.contains("data-shortcuts") && !page.contains("aria-keyshortcuts"), "{page}");
    let path = olga.submit("/admin/shortcuts", &[("shortcuts", "on"), ("next", "/admin?sort=votes")]);
    assert_eq!(path, "/admin?sort=votes&done=shortcuts");
    let page = olga.page(&path);
    for part in [
        "Keyboard shortcuts: on</button>",
        "data-shortcuts=\"j next k previous x tick m focus-change / focus-query v press-record-vote ? help\"",
        "placeholder=\"Search feature requests\" dir=\"auto\" aria-keyshortcuts=\"/\"",
        "name=\"change\" aria-keyshortcuts=\"m\"",
        "<kbd>j</kbd>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(notice(&page), "Keyboard shortcuts were switched on or off.");
    // The theme is still as the system has it.
    assert!(!page.contains("data-theme"), "{page}");
    // They are switched on in each browser.
    let elsewhere = Browser::signed_in(&app, "olga@acme.example");
    assert!(elsewhere.page("/admin").contains("Keyboard shortcuts: on</button>"));
    let customer = Browser::signed_in(&app, "ann@example.com");
    assert_eq!(customer.post("/admin/shortcuts", &[("shortcuts", "on")]).status, 404);
    assert_eq!(elsewhere.submit("/admin/shortcuts", &[("shortcuts", "off")]), "/admin?done=shortcuts");
    assert!(olga.page("/admin").contains("Keyboard shortcuts: off</button>"));
}

#[test]
fn the_overview_shows_what_has_happened() {
    let (app, olga) = started();
    let [dark, pdf] = requests(&app, ["Dark mode", "Export as PDF"]);
    app.acme.vote(&dark, "bob@example.com");
    app.acme.comment(&pdf, "We are on it.");
    Browser::new(&app).page("/feature_requests?query=https%3A%2F%2Fevil.example+%3Cb%3E");
    let page = olga.page("/admin/overview?days=30");
    let stat = |name: &str| {
        let rest = between(&page, &format!("<dt>{name}</dt>"), "</div>");
        (between(rest, "<b>", "</b>").to_owned(), between(rest, "<span class=\"hint\">", "</span>").to_owned())
    };
    let of = |number: &str, hint: &str| (number.to_owned(), hint.to_owned());
    assert_eq!(stat("New requests"), of("2", "2 more than before"));
    assert_eq!(stat("Votes"), of("3", "3 more than before"));
    assert_eq!(stat("Comments of customers"), of("0", "As many as before"));
    assert_eq!(stat("Mails that failed"), of("0", "Mail is written to files"));
    let (number, hint) = stat("Without an answer");
    assert_eq!(number, "1");
    assert!(hint.starts_with("<a href=\"/admin?state=unanswered\">The oldest is of <time datetime=\""), "{hint}");
    for part in [
        "<h1>Overview</h1>",
        "href=\"/admin/overview?days=30\" aria-current=\"true\">30 days</a>",
        "role=\"img\" aria-label=\"Votes by week, the last 12 weeks: 0 in the week from ",
        "role=\"img\" aria-label=\"New requests by week, ",
        "<tr><th scope=\"row\">This week so far</th><td class=\"num\">3</td></tr>",
        "<a href=\"/admin/feature_requests/1-dark-mode\"><bdi>Dark mode</bdi></a><span class=\"count\">2 votes</span>",
        "<a href=\"/admin/feature_requests/1-dark-mode\"><bdi>Dark mode</bdi></a><span class=\"count\">2 new votes</span>",
        "aria-label=\"100 percent\"",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(page.matches("class=\"now\"").count(), 2, "{page}");
    assert!(page.contains(&format!("href=\"/admin?state=all&#38;track={}\"", app.track("Inbox"))), "{page}");
    // Without a period or with an unknown one, it is about seven days.
    for path in ["/admin/overview", "/admin/overview?days=8"] {
        assert!(olga.page(path).contains("?days=7\" aria-current=\"true\">7 days</a>"));
    }
}

#[test]
fn only_admins_are_led_to_the_mail_that_failed() {
    let (app, olga) = started();
    app.roadmap(&["member", "add", "--workspace", "acme", "--email", "mia@acme.example", "--name", "Mia"]);
    let mia = Browser::signed_in(&app, "mia@acme.example");
    assert!(!olga.page("/admin/overview").contains("See why"));
    let [dark] = requests(&app, ["Dark mode"]);
    let body = json!({ "comment": { "content": "Soon" }, "notify_all_voters": true });
    assert_eq!(app.acme.post_comment(&dark, &body).status, 201);
    eventually("the mail is sent", || app.roadmap(&["mail", "status"]).json()[0]["sent"] == 1);
    // As if a worker had given up on it.
    app.data.execute("UPDATE outbox SET sent_at = NULL, due_at = NULL, failure = 'no'");
    let of_failed = |browser: &Browser| {
        let page = browser.page("/admin/overview");
        between(&page, "<dt>Mails that failed</dt>", "</div>").to_owned()
    };
    let (admin, member) = (of_failed(&olga), of_failed(&mia));
    assert!(admin.contains("<b>1</b>") && admin.contains("<a href=\"/admin/mail\">See why</a>"), "{admin}");
    assert!(
        member.contains("<b>1</b>") && member.contains("An admin can see why") && !member.contains("<a "),
        "{member}"
    );
}
