//! Pictures in descriptions, comments and changelogs: over the API, and as people add them on the pages.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, RgbImage, RgbaImage};
use serde_json::{Value, json};

use crate::app::{App, Client, Response, form_with};
use crate::browser::{Browser, hidden, path_of};

const BASE: &str = "https://acme.roadmap.example.com";

/// A picture in a format of its own.
fn picture(format: ImageFormat, width: u32, height: u32) -> Vec<u8> {
    let mut content = Cursor::new(Vec::new());
    let drawn: DynamicImage = match format {
        ImageFormat::Jpeg => RgbImage::from_fn(width, height, |x, y| image::Rgb([x as u8, y as u8, 7])).into(),
        _ => RgbaImage::from_fn(width, height, |x, y| image::Rgba([x as u8, y as u8, 7, 255])).into(),
    };
    drawn.write_to(&mut content, format).unwrap();
    content.into_inner()
}

/// A PNG of 10 KB that claims to have 50,000 × 50,000 pixels.
fn bomb() -> Vec<u8> {
    let mut content = picture(ImageFormat::Png, 64, 64);
    let size = 50_000_u32.to_be_bytes();
    content.splice(16..24, [size, size].concat());
    let mut crc = flate2::Crc::new();
    crc.update(&content[12..29]);
    content.splice(29..33, crc.sum().to_be_bytes());
    content.resize(10_000, 0);
    content
}

fn upload(client: &Client, name: &str, content: &[u8]) -> Value {
    let response = client.post_attachment(&form_with(name, content));
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()
}

/// The element of an uploaded file, as a client writes it.
fn element(file: &Value) -> String {
    format!("<img src=\"{}\" alt=\"A chart\" onerror=x()>", file["blob_url"].as_str().unwrap())
}

/// The URLs of the pictures of a text, which are all on the portal of the workspace.
fn pictures_of(text: &Value) -> Vec<String> {
    let start = format!("<img src=\"{BASE}");
    let text = text.as_str().unwrap();
    assert_eq!(text.matches("<img").count(), text.matches(&start).count(), "{text}");
    text.split(&start).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

fn comment(app: &App, id: &str, content: &str) -> Response {
    app.acme.post_comment(id, &json!({ "comment": { "content": content } }))
}

/// Sends a form with a file as browsers do.
fn post_file(browser: &Browser, path: &str, fields: &[(&str, &str)], name: &str, content: &[u8]) -> Response {
    let mut form = Vec::new();
    for (field, value) in fields {
        let head = format!("--limit\r\nContent-Disposition: form-data; name=\"{field}\"\r\n\r\n{value}\r\n");
        form.extend_from_slice(head.as_bytes());
    }
    let head = format!("--limit\r\nContent-Disposition: form-data; name=\"picture\"; filename=\"{name}\"\r\n\r\n");
    form.extend_from_slice(head.as_bytes());
    form.extend_from_slice(content);
    form.extend_from_slice(b"\r\n--limit--\r\n");
    let origin = browser.origin();
    let headers = [("Origin", &*origin), ("Content-Type", "multipart/form-data; boundary=limit")];
    browser.send("POST", path, &headers, Some(&form))
}

/// Adds a picture as the script does, and returns its Markdown.
fn add(browser: &Browser, name: &str, content: &[u8]) -> Response {
    post_file(browser, "/pictures", &[], name, content)
}

/// An uploaded file stays a picture in each kind of text, with its size, and is served small to everybody.
#[test]
fn a_file_of_the_workspace_is_shown_in_a_text() {
    let app = App::start();
    let file = upload(&app.acme, "chart.png", &picture(ImageFormat::Png, 2_000, 1_000));
    let id = app.acme.feature_request_with(&json!({ "title": "Charts", "description": element(&file) }));
    let described = app.acme.detail(&id)["description"].clone();
    let shown = pictures_of(&described);
    let expected = format!("<img src=\"{BASE}{}\" alt=\"A chart\" width=\"1600\" height=\"800\">", shown[0]);
    assert_eq!(described, expected);
    // Everywhere it is the same picture, also when a request is repeated.
    let files = app.count("SELECT count(*) FROM attachments");
    let posted = comment(&app, &id, &format!("<p>See {}</p>", element(&file)));
    assert_eq!(posted.status, 201, "{}", posted.text());
    assert_eq!(pictures_of(&posted.json()["comment"]["content"]), shown);
    let changelog = json!({ "changelog": { "title": "1.0", "content": element(&file), "publish": true } });
    let published = app.acme.post_changelog(&changelog).json();
    assert_eq!(pictures_of(&published["changelog"]["content"]), shown);
    // What was read is what is written back.
    let change = json!({ "feature_request": { "description": described } });
    assert_eq!(app.acme.patch_feature_request(&id, &change).json()["feature_request"]["description"], described);
    assert_eq!(app.count("SELECT count(*) FROM attachments"), files);
    let visitor = Browser::new(&app);
    let served = visitor.get(&shown[0]);
    assert_eq!((served.status, served.header("content-type")), (200, Some("image/png")));
    assert_eq!(served.header("cross-origin-resource-policy"), Some("cross-origin"));
    let small = image::load_from_memory(&served.bytes).unwrap();
    assert_eq!((small.width(), small.height()), (1_600, 800));
    // Pages have the path alone, feeds and mails the URL.
    let page = visitor.page(&path_of(app.acme.detail(&id)["url"].as_str().unwrap()));
    // The description, and the comment as the answer of the team, to which the thread leads.
    let count = page.matches(&format!("<img loading=lazy src=\"{}\" alt=\"A chart\" width=\"1600\"", shown[0])).count();
    assert_eq!(count, 2, "{:?}", page.lines().filter(|line| line.contains("<img")).collect::<Vec<_>>());
    let feed = visitor.page("/changelogs.atom");
    assert!(feed.contains(&format!("{BASE}{}", shown[0])), "{feed}");
}

/// What is not a file of the workspace becomes a link, and what cannot be shown is refused with a sentence.
#[test]
fn other_pictures_become_links_or_are_refused() {
    let app = App::start();
    let id = app.acme.feature_request("Charts")["id"].as_str().unwrap().to_owned();
    let neighbour = upload(&app.workspace("bolt"), "a.png", &picture(ImageFormat::Png, 9, 9));
    let url = neighbour["blob_url"].as_str().unwrap();
    let shown = comment(&app, &id, &element(&neighbour)).json()["comment"]["content"].clone();
    assert_eq!(shown, format!("<a href=\"{url}\" rel=\"nofollow noopener\">A chart</a>"));
    let shown = comment(&app, &id, "<img src=https://x.example/a.png alt=there>").json()["comment"]["content"].clone();
    assert_eq!(shown, "<a href=\"https://x.example/a.png\" rel=\"nofollow noopener\">there</a>");

    let known = upload(&app.acme, "a.png", &picture(ImageFormat::Png, 9, 9));
    let mut webp = picture(ImageFormat::WebP, 9, 9);
    webp.truncate(40);
    for (content, sentence) in [
        (bomb(), "Picture must have at most 40 megapixels"),
        (
            b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(),
            "Picture must be a JPEG, PNG, WebP or GIF that can be read",
        ),
        (webp, "Picture must be a JPEG, PNG, WebP or GIF that can be read"),
        (vec![b'x'; 5 * 1_024 * 1_024 + 1], "Picture must not be larger than 5 MB"),
    ] {
        let file = upload(&app.acme, "file", &content);
        let response = comment(&app, &id, &format!("{}{}", element(&known), element(&file)));
        assert_eq!((response.status, response.text().contains(sentence)), (422, true), "{}", response.text());
    }
    let four = (0..4).map(|_| element(&known)).collect::<String>();
    let response = comment(&app, &id, &four);
    let sentence = "A description or a comment can have at most 3 pictures";
    assert_eq!((response.status, response.text().contains(sentence)), (422, true), "{}", response.text());
    // Nothing is made for more than any text may have.
    let before = app.count("SELECT count(*) FROM attachments");
    let many = (0..21).map(|number| upload(&app.acme, &format!("{number}.txt"), b"text")).map(|file| element(&file));
    let response = comment(&app, &id, &many.collect::<String>());
    let sentence = "A changelog can have at most 20 pictures";
    assert_eq!((response.status, response.text().contains(sentence)), (422, true), "{}", response.text());
    assert_eq!(app.count("SELECT count(*) FROM attachments"), before + 21);
    let gone = "<img src=\"/pictures/00000000-0000-0000-0000-000000000009\">";
    let response = comment(&app, &id, gone);
    assert_eq!(response.status, 422);
    assert!(response.text().contains("A picture of the text does not exist any more"), "{}", response.text());
    // A missing record is reported first.
    let missing = comment(&app, "00000000-0000-0000-0000-000000000009", gone);
    assert_eq!(missing.status, 404);
    // A private note has none, but a link to the file.
    let note = json!({ "reference_note": { "body": element(&known) } });
    assert_eq!(app.acme.post_upvote(&id, &note).status, 201);
    let body = app.acme.get_reference_notes(&id, "").json()["reference_notes"][0]["body"].clone();
    let url = known["blob_url"].as_str().unwrap();
    assert_eq!(body, format!("<a href=\"{url}\" rel=\"nofollow noopener\">A chart</a>"));
}

/// The script sends a picture and gets its Markdown. Only people who are signed in may do so.
#[test]
fn people_who_are_signed_in_add_pictures() {
    let app = App::start();
    let path = path_of(app.acme.feature_request("Charts")["url"].as_str().unwrap());
    let png = picture(ImageFormat::Png, 20, 10);
    let visitor = Browser::new(&app);
    assert_eq!(add(&visitor, "a.png", &png).status, 303, "to the page that asks to sign in");
    assert!(!visitor.page(&path).contains("Add picture"));
    let ann = Browser::signed_in(&app, "ann@example.com");
    assert!(ann.page(&path).contains("Add picture"));
    let added = add(&ann, "my [chart].png", &png);
    assert_eq!((added.status, added.header("content-type")), (201, Some("text/plain; charset=utf-8")));
    let markdown = added.text();
    let shown = markdown.strip_prefix("![my chart](").and_then(|rest| rest.strip_suffix(')')).unwrap().to_owned();
    // It is there before the text is posted, so that a preview can show it.
    assert_eq!(visitor.get(&shown).status, 200);
    let preview = ann.post(&format!("{path}/comments"), &[("content", &markdown), ("preview", "1")]).text();
    assert!(preview.contains(&format!("<img loading=lazy src=\"{shown}\" alt=\"my chart\"")), "{preview}");
    let content = format!("See\n{markdown}\n![](https://x.example/b.png)");
    let next = ann.submit(&format!("{path}/comments"), &[("content", &content)]);
    assert!(next.contains("done=commented") && next.contains("linked_pictures=1"), "{next}");
    let page = ann.page(&next);
    assert!(page.contains("A picture of another site became a link."), "{page}");
    assert!(
        page.contains(&format!("<img loading=lazy src=\"{shown}\" alt=\"my chart\" width=\"20\" height=\"10\">")),
        "{page}"
    );
    // What cannot be shown is told in the language of the page.
    for (content, sentence) in [
        (bomb(), "This picture has too many pixels."),
        (b"text".to_vec(), "This is not a picture that can be read."),
        (vec![b'x'; 5 * 1_024 * 1_024 + 1], "This picture is too large."),
    ] {
        let refused = add(&ann, "a.png", &content);
        assert_eq!(refused.status, 422);
        assert!(refused.text().starts_with(sentence), "{}", refused.text());
    }
    // A comment with too many, or with one that is gone, is shown again.
    let four = markdown.repeat(4);
    let gone = "![](/pictures/00000000-0000-0000-0000-000000000009) and words";
    for (content, sentence) in
        [(&*four, "A text can have at most 3 pictures."), (gone, "A picture of your text does not exist any more.")]
    {
        let refused = ann.post(&format!("{path}/comments"), &[("content", content)]);
        assert_eq!(refused.status, 422);
        let page = refused.text();
        assert!(page.contains(sentence) && page.contains(content), "{page}");
    }
}

/// Without the script, a picture is sent with the form. A problem loses nothing of the text.
#[test]
fn a_picture_is_sent_with_a_form() {
    let app = App::start();
    let path = path_of(app.acme.feature_request("Charts")["url"].as_str().unwrap());
    let jpeg = picture(ImageFormat::Jpeg, 20, 10);
    let ann = Browser::signed_in(&app, "ann@example.com");
    let comments = format!("{path}/comments");
    let refused = post_file(&ann, &comments, &[("content", "Look at <this>")], "a.png", &bomb());
    assert_eq!(refused.status, 422);
    let page = refused.text();
    assert!(page.contains("This picture has too many pixels.") && page.contains("Look at &#60;this&#62;"), "{page}");
    // A form that is sent twice posts one comment.
    let key = hidden(&ann.page(&path), "operation_key");
    for _ in 0..2 {
        let fields = [("content", "Look"), ("operation_key", &*key)];
        let posted = post_file(&ann, &comments, &fields, "IMG_1.jpeg", &jpeg);
        assert_eq!(posted.status, 303, "{}", posted.text());
    }
    assert_eq!(app.count("SELECT count(*) FROM comments"), 1);
    assert_eq!(app.count("SELECT count(*) FROM attachments WHERE picture_by = 'customer'"), 1);
    let page = ann.page(&path);
    assert!(page.contains("<p>Look</p>") && page.contains("alt=\"IMG_1\" width=\"20\" height=\"10\""), "{page}");
    let idea = [("title", "Dark charts"), ("description", "")];
    let posted = post_file(&ann, "/feature_requests/new", &idea, "a.jpg", &jpeg);
    assert_eq!(posted.status, 303, "{}", posted.text());
    assert!(ann.page(posted.header("location").unwrap()).contains("<img loading=lazy src=\"/pictures/"));
    // The team does the same in the panel, where Markdown stays Markdown.
    let olga = Browser::signed_in(&app, "olga@acme.example");
    let news = [("title", "1.0"), ("content", "New **charts**"), ("do", "save")];
    let saved = post_file(&olga, "/admin/changelogs/new", &news, "b.jpg", &jpeg);
    assert_eq!(saved.status, 303, "{}", saved.text());
    let editor = olga.page(saved.header("location").unwrap());
    assert!(editor.contains("New **charts**\n\n![b](/pictures/"), "{editor}");
    assert!(editor.contains("name=\"format\" value=\"markdown\""), "{editor}");
}

/// What a customer adds in a day is limited, and what all add together.
#[test]
fn pictures_of_customers_have_limits() {
    let app = App::with(&[], &[("ROADMAP_STORAGE_FILES", "1MB")]);
    let ann = Browser::signed_in(&app, "ann@example.com");
    // Noise cannot be compressed.
    let mut seed = 7_u32;
    let noise = RgbImage::from_fn(190, 170, |_, _| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        image::Rgb([(seed >> 24) as u8, (seed >> 16) as u8, (seed >> 8) as u8])
    });
    let mut content = Cursor::new(Vec::new());
    noise.write_to(&mut content, ImageFormat::Png).unwrap();
    let content = content.into_inner();
    assert!((80_000..104_857).contains(&content.len()), "{}", content.len());
    assert_eq!(add(&ann, "a.png", &content).status, 201);
    let refused = add(&ann, "b.png", &content);
    assert_eq!(refused.status, 422);
    assert!(refused.text().starts_with("There is no more space for pictures of customers here."), "{}", refused.text());
    assert_eq!(app.count("SELECT count(*) FROM attachments"), 1);
    // The team has the rest.
    assert_eq!(upload(&app.acme, "c.png", &content)["content_type"], "image/png");

    let app = App::with(&[], &[("ROADMAP_RATE_LIMIT_POSTS", "20/h")]);
    let ann = Browser::signed_in(&app, "ann@example.com");
    let broken = vec![b'x'; 5 * 1_024 * 1_024];
    for _ in 0..6 {
        assert!(add(&ann, "a.png", &broken).text().starts_with("This is not a picture"));
    }
    let refused = add(&ann, "a.png", &broken);
    assert!(refused.text().starts_with("You can add 30 MB of pictures in a day"), "{}", refused.text());
    let bob = Browser::signed_in(&app, "bob@example.com");
    assert!(add(&bob, "a.png", &broken).text().starts_with("This is not a picture"));
}

/// A picture is gone with its text, also for those who have the link, and from the storage with the next sweep.
#[test]
fn pictures_go_with_their_texts() {
    let app = App::start();
    let request = app.acme.feature_request("Charts");
    let (id, path) = (request["id"].as_str().unwrap(), path_of(request["url"].as_str().unwrap()));
    let ann = Browser::signed_in(&app, "ann@example.com");
    let png = picture(ImageFormat::Png, 20, 10);
    let markdown = add(&ann, "a.png", &png).text();
    let shown = markdown.split(['(', ')']).nth(1).unwrap().to_owned();
    ann.submit(&format!("{path}/comments"), &[("content", &markdown)]);
    app.workspace("bolt");
    let neighbour = Browser::at(&app, "bolt");
    assert_eq!((ann.get(&shown).status, neighbour.get(&shown).status), (200, 404));
    let sweep = || app.roadmap(&["attachments", "sweep"]).json()["unused_removed"].clone();
    assert_eq!(sweep(), 0);
    let listed = app.acme.get_comments(id, "").json();
    assert_eq!(app.acme.delete_comment(listed["comments"][0]["id"].as_str().unwrap()).status, 204);
    assert_eq!(ann.get(&shown).status, 404);
    assert_eq!(sweep(), 1);
    assert_eq!(app.count("SELECT count(*) FROM attachments"), 0);
    assert_eq!(ann.get("/pictures/x").status, 404);
}
