//! Who pays for the mail that somebody asks for: strangers, customers, members, and the limits of each. What was typed is
//! lost on no path.

use serde_json::json;

use crate::app::{App, in_parallel};
use crate::browser::{Browser, path_of, sign_in_mails};
use crate::database::ON_POSTGRES;

const OLGA: &str = "olga@acme.example";
const SENT: &str = "/sign-in/sent";

/// Moves everything that was asked for into the past.
fn age(app: &App, minutes: u32) {
    for (table, column) in [("sign_ins", "created_at"), ("counted_mails", "asked_at")] {
        let earlier = match *ON_POSTGRES {
            true => format!("{column} - interval '{minutes} minutes'"),
            false => format!("{column} - {}", minutes * 60_000),
        };
        app.data.execute(&format!("UPDATE {table} SET {column} = {earlier}"));
    }
}

/// Creates a feature request and returns its ID and the path of its page.
fn request(app: &App) -> (String, String) {
    let request = app.acme.feature_request("Dark mode");
    (request["id"].as_str().unwrap().to_owned(), path_of(request["url"].as_str().unwrap()))
}

/// Asks for a sign-in from a browser that nobody knows. Returns the status, where it leads, and what the page says, with
/// the typed address as `{email}`.
fn ask(app: &App, email: &str) -> (u16, String, String) {
    let browser = Browser::new(app);
    let response = browser.post("/sign-in", &[("email", email)]);
    match response.header("location") {
        Some(location) => {
            let page = browser.page(location);
            assert!(page.contains(email), "{page}");
            (response.status, location.to_owned(), page.replace(email, "{email}"))
        }
        None => (response.status, String::new(), response.text()),
    }
}

/// Portal: strangers use up nothing that belongs to others: a person's sign-ins, a workspace's mails, its storage.
#[test]
fn strangers_lock_nobody_out_whom_the_workspace_knows() {
    let app = App::start();
    let ann = Browser::signed_in(&app, "ann@example.com");
    ann.submit("/sign-out", &[]);
    let olga = Browser::signed_in(&app, OLGA);
    assert!(!olga.page("/admin/overview").contains("strangers"));
    let counts = in_parallel(4, |thread| {
        let browser = Browser::new(&app);
        (0..75)
            .filter(|number| {
                browser.post("/sign-in", &[("email", &format!("x{thread}-{number}@junk.example"))]).header("location")
                    == Some(SENT)
            })
            .count()
    });
    assert_eq!(counts.iter().sum::<usize>(), 300);
    // From now on all get the same response, but strangers get no mail.
    let stranger = ask(&app, "eve@example.com");
    let expected = (303, format!("{SENT}?wait=60"));
    assert_eq!((stranger.0, &stranger.1), (expected.0, &expected.1));
    assert!(stranger.2.contains("ask for a new one in 60 minutes"), "{}", stranger.2);
    for known in ["ann@example.com", OLGA] {
        assert_eq!(ask(&app, known), stranger, "{known}");
        sign_in_mails(&app, known, 1);
    }
    sign_in_mails(&app, "eve@example.com", 0);
    // Ann's own browser is not even affected, and an invitation is sent.
    assert_eq!(ann.submit("/sign-in", &[("email", "ann@example.com")]), SENT);
    let mia = [("email", "mia@acme.example"), ("name", "Mia"), ("role", "member")];
    assert_eq!(olga.submit("/admin/members", &mia), "/admin/members?done=invited");
    sign_in_mails(&app, "mia@acme.example", 1);
    let overview = olga.page("/admin/overview");
    assert!(overview.contains("So many strangers asked to sign in that some got no mail."), "{overview}");
    // Another workspace has its own.
    app.workspace("beta");
    assert_eq!(Browser::at(&app, "beta").submit("/sign-in", &[("email", "eve@example.org")]), SENT);
    age(&app, 61);
    assert_eq!(ask(&app, "eve@example.com").1, SENT);
    sign_in_mails(&app, "eve@example.com", 1);
}

/// Portal.
#[test]
fn nobody_is_locked_out_of_a_browser_where_they_were_signed_in_and_elsewhere_for_15_minutes() {
    let app = App::start();
    app.workspace("beta");
    let ann = Browser::signed_in(&app, "ann@example.com");
    ann.submit("/sign-out", &[]);
    assert!(ann.has_cookie("__Host-known") && !ann.has_cookie("__Host-session"));
    // Strangers ask in all workspaces, with tags and in capitals.
    let (acme, beta) = (Browser::new(&app), Browser::at(&app, "beta"));
    for (browser, email) in [(&acme, "Ann@example.com"), (&beta, "ann+1@example.com"), (&beta, "ANN+2@EXAMPLE.com")] {
        assert_eq!(browser.submit("/sign-in", &[("email", email)]), SENT, "{email}");
    }
    for (browser, email) in [(&acme, "ann@example.com"), (&beta, "ann@example.com"), (&acme, "ann+3@example.com")] {
        let limited = browser.post("/sign-in", &[("email", email)]);
        let wait: u64 = limited.header("retry-after").unwrap().parse().unwrap();
        assert!(limited.status == 429 && (850..=900).contains(&wait), "{email} {wait}");
        assert!(limited.text().contains("Please try again in 15 minutes."), "{}", limited.text());
    }
    for number in 1..=5 {
        assert_eq!(ann.submit("/sign-in", &[("email", "ann@example.com")]), SENT, "{number}");
    }
    assert_eq!(ann.post("/sign-in", &[("email", "ann@example.com")]).status, 429);
    // The cookie is that of one person and one workspace.
    assert_eq!(ann.moved_to("beta").post("/sign-in", &[("email", "ann@example.com")]).status, 429);
    for _ in 0..3 {
        ann.submit("/sign-in", &[("email", "bob@example.com")]);
    }
    assert_eq!(ann.post("/sign-in", &[("email", "bob@example.com")]).status, 429);
    age(&app, 15);
    assert_eq!(ask(&app, "ann@example.com").0, 303);
}

/// Portal.
#[test]
fn one_mailbox_gets_ten_mails_an_hour_over_the_whole_installation() {
    let app = App::start();
    let workspaces = ["beta", "gamma", "delta"];
    for workspace in workspaces {
        app.workspace(workspace);
    }
    let mut sent = 0;
    for _ in 0..4 {
        for workspace in workspaces.into_iter().chain(["acme"]) {
            let browser = Browser::at(&app, workspace);
            let response = browser.post("/sign-in", &[("email", &format!("ann+{sent}@example.com"))]);
            sent += u32::from(response.status == 303);
        }
        age(&app, 15);
    }
    // Three in each quarter of an hour, and one in the last.
    assert_eq!(sent, 10);
}

/// Portal: a portal that is closed to an address sends it no mail, with the same response.
#[test]
fn a_closed_portal_mails_nobody_who_could_not_enter() {
    let app = App::start();
    let set = |fields| app.acme.patch_portal(&json!({ "portal": fields })).is_ok();
    set(json!({ "visibility": "off" }));
    let stranger = ask(&app, "eve@example.com");
    assert_eq!((stranger.0, stranger.1.as_str()), (303, SENT));
    assert_eq!(ask(&app, OLGA), stranger);
    sign_in_mails(&app, OLGA, 1);
    set(json!({ "visibility": "private", "mail_domains": ["customer.example"] }));
    assert_eq!(ask(&app, "eve@example.com"), stranger);
    assert_eq!(ask(&app, "cyd@customer.example"), stranger);
    sign_in_mails(&app, "cyd@customer.example", 1);
    assert_eq!(ask(&app, "eve@example.com"), stranger);
    // Counted like the others: the fourth one is refused, whoever it is.
    assert_eq!(ask(&app, "eve@example.com").0, 429);
    sign_in_mails(&app, "eve@example.com", 0);
}

/// Portal.
#[test]
fn posts_that_nobody_confirms_use_up_nothing_of_the_team_s() {
    let app = App::with(&[], &[("ROADMAP_STORAGE_RECORDS", "1MB")]);
    let (_, path) = request(&app);
    let content = "words ".repeat(1_500);
    let counts = in_parallel(4, |thread| {
        let browser = Browser::new(&app);
        (0..50)
            .filter(|number| {
                let email = format!("x{thread}-{number}@junk.example");
                browser.post(&format!("{path}/comments"), &[("email", &email), ("content", &content)]).status == 303
            })
            .count()
    });
    assert_eq!(counts.iter().sum::<usize>(), 200);
    // What one more visitor has typed is shown with a way on.
    let visitor = Browser::new(&app);
    let fields = [("email", "ann@example.com"), ("content", "My words")];
    let refused = visitor.post(&format!("{path}/comments"), &fields);
    assert!(refused.status == 429 && refused.header("retry-after").is_some());
    assert!(
        refused.text().contains("My words") && refused.text().contains("Please sign in first"),
        "{}",
        refused.text()
    );
    // Votes are no posts, and the team still writes.
    assert_eq!(visitor.submit(&format!("{path}/vote"), &[("email", "ann@example.com")]), SENT);
    app.acme.feature_request("Another one");
    // A browser in which somebody was signed in before has its own count.
    let bob = Browser::signed_in(&app, "bob@example.com");
    bob.submit("/sign-out", &[]);
    assert_eq!(bob.submit(&format!("{path}/comments"), &[("email", "bob@example.com"), ("content", "Mine")]), SENT);
    age(&app, 24 * 60 + 1);
    assert_eq!(visitor.submit(&format!("{path}/comments"), &fields), SENT);
}

/// Portal: what was typed outlives its link for a day.
#[test]
fn what_was_typed_outlives_the_link() {
    let app = App::start();
    let (id, path) = request(&app);
    let contents = || {
        let comments = app.acme.get_comments(&id, "").json();
        let comments = comments["comments"].as_array().unwrap().clone();
        comments.iter().map(|comment| comment["content"].as_str().unwrap().trim().to_owned()).collect::<Vec<_>>()
    };
    // By the link, in another browser than the one that asked.
    let (asking, elsewhere) = (Browser::new(&app), Browser::new(&app));
    asking.submit(&format!("{path}/comments"), &[("email", "ann@example.com"), ("content", "Late **words**")]);
    let mail = sign_in_mails(&app, "ann@example.com", 1).remove(0);
    age(&app, 16);
    for choice in [None, Some("act"), Some("only"), Some("deny")] {
        let late = match choice {
            None => elsewhere.get(&mail.path),
            Some(choice) => elsewhere.post(&mail.path, &[("choice", choice)]),
        };
        assert_eq!(late.status, 404, "{choice:?}");
        for part in ["Dark mode", "Late <strong>words</strong>", "ann@example.com", "Send a new mail"] {
            assert!(late.text().contains(part), "{choice:?} {part}: {}", late.text());
        }
    }
    assert!(!elsewhere.has_cookie("__Host-session") && contents().is_empty());
    assert_eq!(elsewhere.submit(&mail.path, &[("choice", "renew")]), SENT);
    let renewed = sign_in_mails(&app, "ann@example.com", 2).pop().unwrap();
    assert_eq!(elsewhere.submit(&renewed.path, &[("choice", "act")]), format!("{path}?done=commented"));
    assert_eq!(contents(), ["<p>Late <strong>words</strong></p>"]);
    // By the code, in the browser that asked.
    let browser = Browser::new(&app);
    browser.submit(
        "/feature_requests/new",
        &[("email", "bob@example.com"), ("title", "Late idea"), ("description", "Why")],
    );
    let mail = sign_in_mails(&app, "bob@example.com", 1).remove(0);
    age(&app, 16);
    let late = browser.post(SENT, &[("code", &mail.code)]);
    assert_eq!(late.status, 404);
    assert!(late.text().contains("Late idea") && late.text().contains("Why"), "{}", late.text());
    assert_eq!(browser.submit(SENT, &[("choice", "renew")]), SENT);
    let renewed = sign_in_mails(&app, "bob@example.com", 2).pop().unwrap();
    assert!(browser.submit(SENT, &[("code", &renewed.code)]).contains("late-idea?done=submitted"));
    // An old one that is asked for again by its form keeps its action, too.
    let browser = Browser::new(&app);
    browser.submit(&format!("{path}/comments"), &[("email", "cyd@example.com"), ("content", "Once more")]);
    sign_in_mails(&app, "cyd@example.com", 1);
    age(&app, 16);
    browser.submit("/sign-in", &[("email", "cyd@example.com"), ("again", "1")]);
    let renewed = sign_in_mails(&app, "cyd@example.com", 2).pop().unwrap();
    browser.submit(&renewed.path, &[("choice", "act")]);
    assert_eq!(contents().len(), 2);
    // An invitation leads to the panel, also when it is renewed. After a day, it is gone.
    let olga = Browser::signed_in(&app, OLGA);
    for (email, minutes) in [("mia@acme.example", 16), ("max@acme.example", 24 * 60 + 1)] {
        olga.submit("/admin/members", &[("email", email), ("name", "New"), ("role", "member")]);
        let mail = sign_in_mails(&app, email, 1).remove(0);
        age(&app, minutes);
        let browser = Browser::new(&app);
        let late = browser.get(&mail.path);
        assert_eq!((late.status, late.text().contains("Send a new mail")), (404, minutes == 16), "{email}");
        if minutes == 16 {
            assert_eq!(browser.submit(&mail.path, &[("choice", "renew")]), SENT);
            let renewed = sign_in_mails(&app, email, 2).pop().unwrap();
            assert_eq!(browser.submit(&renewed.path, &[("choice", "only")]), "/admin?done=signed-in");
        }
    }
}

/// Portal: a filled honeypot loses nothing.
#[test]
fn a_filled_honeypot_loses_nothing_and_is_not_on_the_sign_in() {
    let app = App::start();
    let (_, path) = request(&app);
    let browser = Browser::new(&app);
    let filled = ("leave_blank", "https://x.example");
    let email = ("email", "ann@example.com");
    for (form, fields) in [
        (format!("{path}/comments"), vec![email, ("content", "My words"), filled]),
        ("/feature_requests/new".to_owned(), vec![email, ("title", "My words"), ("description", "and more"), filled]),
        (format!("{path}/vote"), vec![email, filled]),
        (format!("{path}/subscription"), vec![email, ("state", "on"), filled]),
    ] {
        let response = browser.post(&form, &fields);
        assert_eq!(response.status, 422, "{form}");
        assert!(response.text().contains("Please leave this field empty."), "{form}: {}", response.text());
        for (name, value) in fields.iter().filter(|(name, _)| !matches!(*name, "state" | "leave_blank")) {
            assert!(response.text().contains(value), "{form} {name}: {}", response.text());
        }
        assert!(!response.text().contains("https://x.example"), "{form}");
        let emptied: Vec<_> = fields.into_iter().filter(|field| *field != filled).collect();
        let again = [&emptied[..], &[("leave_blank", ""), ("website", "https://x.example")][..]].concat();
        if form.ends_with("/comments") {
            assert_eq!(browser.submit(&form, &again), SENT);
        }
    }
    let page = browser.page(&path);
    for part in
        ["name=\"leave_blank\"", "autocomplete=\"off\"", "data-1p-ignore", "data-lpignore=\"true\"", "data-bwignore"]
    {
        assert!(page.contains(part), "{part}");
    }
    let sign_in = browser.page("/sign-in");
    assert!(!sign_in.contains("leave_blank") && !sign_in.contains("website"), "{sign_in}");
    assert_eq!(browser.submit("/sign-in", &[("email", "bob@example.com"), filled]), SENT);
    sign_in_mails(&app, "bob@example.com", 1);
    // Somebody who is signed in has no honeypot.
    let cyd = Browser::signed_in(&app, "cyd@example.com");
    assert_eq!(cyd.submit(&format!("{path}/vote"), &[filled]), format!("{path}?done=voted"));
}
