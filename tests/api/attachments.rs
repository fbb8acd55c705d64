//! `POST /attachments` of version 2 (contract sections 2.7 and 4.1), `GET` and `DELETE /attachments/{id}`, and the path
//! from `blob_url` to the bytes.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use roadmap_testkit::s3;
use serde_json::{Value, json};

use crate::app::{
    App, Client, FORM_TYPE, Response, eventually, files_below, form_with, has_keys, in_parallel, is_id, is_timestamp,
};
use crate::shared::is_unknown;

const LIMIT: usize = 52_428_800;
const TOO_LARGE: &str = "File is required and must not be larger than 50 MB";

/// PNG header of a picture of 640 × 480 pixels.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x06\0\0\0";

/// Files that no browser shows as an image, or that could run a script.
const NO_IMAGES: [(&str, &[u8]); 6] = [
    ("a.svg", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>"),
    ("b.svg", b"<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\"/>"),
    ("a.png", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>"),
    ("a.txt", b"text"),
    ("a.pdf", b"%PDF-1.7\n"),
    ("a.tif", b"II*\0\x08\0\0\0"),
];

/// Part of a multipart form.
struct Part<'a> {
    head: String,
    body: &'a [u8],
}

fn part<'a>(name: &str, filename: &str, body: &'a [u8]) -> Part<'a> {
    Part { head: format!("Content-Disposition: form-data; name=\"{name}\"; filename=\"{filename}\""), body }
}

fn form(parts: &[Part<'_>]) -> Vec<u8> {
    let mut form = Vec::new();
    for Part { head, body } in parts {
        form.extend_from_slice(format!("--limit\r\n{head}\r\n\r\n").as_bytes());
        form.extend_from_slice(body);
        form.extend_from_slice(b"\r\n");
    }
    form.extend_from_slice(b"--limit--\r\n");
    form
}

const FORM: (&str, &str) = ("Content-Type", FORM_TYPE);

fn post(client: &Client, parts: &[Part<'_>]) -> Response {
    client.post_attachment(&form(parts))
}

fn upload(client: &Client, filename: &str, bytes: &[u8]) -> Value {
    let response = client.post_attachment(&form_with(filename, bytes));
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()
}

/// Path and query of a URL of the service.
fn path_of(url: &Value) -> String {
    let url = url.as_str().expect("a URL");
    url.strip_prefix("https://acme.roadmap.example.com").expect("a URL of the workspace").to_owned()
}

/// Opens a file like a browser, without an API key.
fn open(app: &App, blob_url: &Value, headers: &[(&str, &str)]) -> Response {
    let visitor = Client { key: None, ..app.acme.clone() };
    let redirect = visitor.request("GET", &path_of(blob_url), &[], None).expect("a response");
    assert_eq!(redirect.status, 302, "{}", redirect.text());
    is_guarded(&redirect);
    let location = path_of(&json!(redirect.header("location")));
    let response = visitor.request("GET", &location, headers, None).expect("a response");
    // Browsers check both responses: the redirect and the file need the same policy.
    let policy = |response: &Response| response.header("cross-origin-resource-policy").map(str::to_owned);
    assert!(response.status >= 400 || policy(&response) == policy(&redirect), "{:?}", policy(&response));
    response
}

#[track_caller]
fn is_guarded(response: &Response) {
    assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(response.header("content-security-policy"), Some("default-src 'none'; frame-ancestors 'none'; sandbox"));
    assert_eq!(response.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(response.header("cache-control"), Some("no-store"));
    assert_eq!(response.header("set-cookie"), None);
    let policy = response.header("cross-origin-resource-policy");
    assert!(matches!(policy, Some("cross-origin" | "same-origin")), "{policy:?}");
}

/// Returns all files in the blob folder, finished or not.
fn blobs(app: &App) -> Vec<PathBuf> {
    files_below(&app.data_dir().join("blobs"))
}

fn rows(app: &App) -> i64 {
    app.count("SELECT count(*) FROM attachments")
}

/// Contract 2.7: an attachment has `id`, `filename`, `content_type` and `byte_size`.
/// Contract 2.7: `checksum` is the Base64 of the MD5.
/// Contract 2.7: an attachment has `key` and `service_name`.
/// Contract 2.7: `metadata` has the workspace.
/// Contract 2.7: an attachment has `created_at`.
/// Contract 2.7: `attachable_sgid` is a signed id.
/// Contract 2.7: `signed_id` is passed as `cover_image_signed_id`.
/// Contract 4.1: the response is 201 with the attachment.
/// Decision 2: POST of an attachment returns 201.
/// Decision 4: `metadata` has `workspace_id`, `identified`, `analyzed`, and of images `width` and `height`.
/// Decision 4: `service_name` is `local` or `s3`.
/// Decision 4: `blob_url` is at the workspace's base, with `signed_id` and name.
/// Decision 7: files are stored in a folder by default.
#[test]
fn an_upload_returns_the_twelve_fields_of_an_attachment() {
    let app = App::start();
    let response = post(&app.acme, &[part("file", "Übersicht 1.png", PNG)]);
    assert_eq!((response.status, response.header("content-type")), (201, Some("application/json")));
    let attachment = response.json();
    let workspace = app.roadmap(&["workspace", "list"]).json()[0]["id"].clone();
    assert_eq!(
        attachment,
        json!({
            "id": attachment["id"],
            "filename": "Übersicht 1.png",
            "content_type": "image/png",
            "byte_size": PNG.len(),
            "checksum": "VwiGLWq7Ixuf0hOo2ct5Ew==",
            "key": format!("{}/{}", workspace.as_str().unwrap(), attachment["id"].as_str().unwrap()),
            "service_name": "local",
            "metadata": {
                "workspace_id": workspace,
                "identified": true,
                "analyzed": true,
                "width": 640,
                "height": 480,
            },
            "created_at": attachment["created_at"],
            "attachable_sgid": attachment["attachable_sgid"],
            "signed_id": attachment["signed_id"],
            "blob_url": format!(
                "https://acme.roadmap.example.com/blobs/{}/%C3%9Cbersicht%201.png",
                attachment["signed_id"].as_str().unwrap()
            ),
        })
    );
    is_id(&attachment["id"]);
    is_timestamp(&attachment["created_at"]);
    assert_ne!(attachment["signed_id"], attachment["attachable_sgid"]);
    let [first, second] = ["a.txt", "b.txt"].map(|name| upload(&app.acme, name, b"text"));
    has_keys(&first["metadata"], &["workspace_id", "identified", "analyzed"]);
    assert_ne!(first["attachable_sgid"], second["attachable_sgid"]);
}

/// Contract 4.1: a file has at most 50 MB.
/// Contract 8: an upload has at most 50 MB.
/// Decision 2: 50 MB is 50 × 1024 × 1024 bytes of content, that size included.
/// Contract 7; Decision 7; Beyond the contract.
#[test]
fn fifty_megabytes_are_taken_and_one_byte_more_is_not() {
    let app = App::start();
    let mut bytes = vec![b'x'; LIMIT + 1];
    let sent = form(&[part("file", "a.bin", &bytes)]);
    app.acme.post_attachment(&sent).is_error(422, TOO_LARGE);
    // In chunks, without a content length.
    let response = chunked(&app.acme, &sent);
    assert!(response.starts_with("HTTP/1.1 422") && response.contains(TOO_LARGE), "{response}");
    assert_eq!((blobs(&app), rows(&app)), (vec![], 0));
    bytes.pop();
    let attachment = upload(&app.acme, "a.bin", &bytes);
    assert_eq!(attachment["byte_size"], LIMIT);
    assert_eq!(std::fs::metadata(&blobs(&app)[0]).unwrap().len(), LIMIT as u64);
    assert!(open(&app, &attachment["blob_url"], &[]).bytes == bytes);
}

/// Sends a form in chunks (RFC 9112 section 7.1). Returns the start of the response.
fn chunked(client: &Client, form: &[u8]) -> String {
    let mut stream = begin(client, "Transfer-Encoding: chunked");
    for chunk in form.chunks(1024 * 1024) {
        let sent = stream
            .write_all(format!("{:x}\r\n", chunk.len()).as_bytes())
            .and_then(|()| stream.write_all(chunk))
            .and_then(|()| stream.write_all(b"\r\n"));
        if sent.is_err() {
            break;
        }
    }
    let _ = stream.write_all(b"0\r\n\r\n");
    let mut response = [0; 4096];
    let read = stream.read(&mut response).expect("a response");
    String::from_utf8_lossy(&response[..read]).into_owned()
}

/// Opens a connection and sends the head of an upload.
fn begin(client: &Client, length: &str) -> TcpStream {
    let mut stream = client.connect();
    let (host, key) = (&client.host, client.key.as_ref().expect("a key"));
    let head = format!(
        "POST /api/external/v2/attachments HTTP/1.1\r\nHost: {host}\r\nX-Api-Key: {key}\r\nContent-Type: {FORM_TYPE}\r\n{length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("the server reads");
    stream
}

/// Beyond the contract: an interrupted upload, or one with a wrong length, leaves neither file nor row, or both.
/// Decision 2.
#[test]
fn an_interrupted_upload_leaves_nothing() {
    let app = App::start();
    let bytes = vec![b'x'; 3_000_000];
    let sent = form(&[part("file", "a.bin", &bytes)]);
    for (length, cut, reset) in [
        (format!("Content-Length: {}", sent.len()), 2_000_000, true),
        (format!("Content-Length: {}", sent.len()), 2_000_000, false),
        (format!("Content-Length: {}", sent.len()), sent.len() - 3, true),
        (format!("Content-Length: {}", sent.len() + 10), sent.len(), true),
        ("Transfer-Encoding: chunked".to_owned(), 2_000_000, true),
    ] {
        let mut stream = begin(&app.acme, &length);
        let half = &sent[..cut];
        if length.starts_with("Transfer") {
            stream.write_all(format!("{:x}\r\n", sent.len()).as_bytes()).unwrap();
        }
        stream.write_all(half).unwrap();
        if reset {
            socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
        } else {
            stream.shutdown(Shutdown::Write).unwrap();
            let _ = stream.read(&mut [0; 1024]);
        }
        drop(stream);
        // If only the end of the body is missing, the file may be stored or not.
        eventually("nothing is left of it, or all", || blobs(&app).len() as i64 == rows(&app));
    }
    // A content length that is too small: the body ends in the middle of the file.
    let short = begin(&app.acme, "Content-Length: 1000");
    let mut stream = short;
    stream.write_all(&sent[..1000]).unwrap();
    let mut response = [0; 4096];
    let read = stream.read(&mut response).unwrap();
    assert!(String::from_utf8_lossy(&response[..read]).starts_with("HTTP/1.1 400"));
    let complete = rows(&app);
    assert!(complete <= 1, "{complete}");
    eventually("nothing is left", || blobs(&app).len() as i64 == complete);
    assert_eq!(upload(&app.acme, "a.bin", &bytes)["byte_size"], 3_000_000);
}

/// Contract 4.1: 422 with an error body when `file` is missing or larger than 50 MB.
/// Contract 7: an upload's 422 is `File is required and must not be larger than 50 MB`.
/// Decision 2: an upload without `file`, or over 50 MB, is 422.
#[test]
fn a_form_without_a_file_is_refused() {
    let app = App::start();
    let many: Vec<Part<'_>> = (0..1_000).map(|number| part(&format!("part{number}"), "a", b"x")).collect();
    let field = Part { head: "Content-Disposition: form-data; name=\"other\"".to_owned(), body: b"x" };
    for parts in [vec![], vec![field]] {
        post(&app.acme, &parts).is_error(422, TOO_LARGE);
    }
    // With a file, the expected name is in the message.
    let misnamed = format!("{TOO_LARGE}: the part of the form must be named `file`");
    for parts in [vec![part("file[]", "a.txt", b"x")], vec![part("File", "a.txt", b"x")], many] {
        post(&app.acme, &parts).is_error(422, &misnamed);
    }
    assert_eq!((blobs(&app), rows(&app)), (vec![], 0));
}

#[test]
fn a_megabyte_of_other_parts_may_come_before_the_file() {
    let app = App::start();
    // Heads of parts count, too, and so does data that is read with them.
    for (bytes, status) in [(900 * 1024, 201), (1024 * 1024 + 1, 422)] {
        let bytes = vec![b'x'; bytes];
        let response = post(&app.acme, &[part("other", "a", &bytes), part("file", "a.txt", b"text")]);
        assert_eq!(response.status, status);
    }
}

#[test]
fn a_hundred_parts_may_come_before_the_file() {
    let app = App::start();
    for (others, is_fine) in [(100, true), (101, false)] {
        let mut parts: Vec<Part<'_>> = (0..others).map(|number| part(&format!("part{number}"), "a", b"x")).collect();
        parts.push(part("file", "a.txt", b"text"));
        let response = post(&app.acme, &parts);
        if is_fine {
            assert_eq!(response.status, 201);
        } else {
            response.is_error(422, &format!("{TOO_LARGE}: the part of the form must be named `file`"));
        }
    }
}

/// Contract 4.1: the body is multipart with one part `file`, which is required.
/// Contract 1.
#[test]
fn the_first_file_among_other_parts_is_the_file() {
    let app = App::start();
    let mut parts: Vec<Part<'_>> = (0..99).map(|number| part(&format!("part{number}"), "a", b"x")).collect();
    parts.push(part("file", "first.txt", b"first"));
    parts.push(part("file", "second.txt", b"second"));
    let response = post(&app.acme, &parts);
    assert_eq!((response.status, &response.json()["filename"]), (201, &json!("first.txt")));
    assert_eq!((blobs(&app).len(), rows(&app)), (1, 1));
    // A part without a file name is a file, too.
    let head = "Content-Disposition: form-data; name=\"file\"".to_owned();
    let response = post(&app.acme, &[Part { head, body: b"x" }]);
    assert_eq!((response.status, &response.json()["filename"]), (201, &json!("file")));
}

/// Contract 1: the upload's body is multipart.
/// Decision 2: a malformed form is 400.
/// Contract 4.1.
#[test]
fn a_body_that_is_no_form_is_rejected() {
    let app = App::start();
    let send = |headers: &[(&str, &str)], body: &[u8]| {
        app.acme.request("POST", "/api/external/v2/attachments", headers, Some(body)).expect("a response")
    };
    let form = form(&[part("file", "a.txt", b"x")]);
    for content_type in ["application/json", "application/octet-stream", "multipart/mixed; boundary=limit", "nonsense"]
    {
        send(&[("Content-Type", content_type)], &form).is_error(415, "Content-Type must be multipart/form-data");
    }
    send(&[], &form).is_error(415, "Content-Type must be multipart/form-data");
    send(&[FORM, ("Content-Encoding", "gzip")], &form).is_error(415, "Content-Type must be multipart/form-data");
    send(&[FORM, ("Accept", "text/html")], &form).is_error(406, "Accept must allow application/json");
    let malformed = "Request body is not valid multipart/form-data";
    send(&[("Content-Type", "multipart/form-data")], &form).is_error(400, malformed);
    let nameless = "--limit\r\nContent-Disposition: form-data; filename=\"a\"\r\n\r\nx\r\n--limit--\r\n";
    for body in [
        nameless,
        "",
        "x",
        "--limit",
        "--limit\r\n\r\nx",
        "--limit\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nx",
    ] {
        send(&[FORM], body.as_bytes()).is_error(400, malformed);
    }
    assert_eq!((blobs(&app), rows(&app)), (vec![], 0));
}

/// Contract 1: the attachment endpoint is below `/api/external/v2`.
/// Contract 4.1: `POST /attachments` is below v2.
/// Contract 4.1: 401 without a valid key.
/// Contract 9: attachments are v2.
/// Decision 1.
#[test]
fn uploads_are_only_in_version_2_and_need_the_write_scope() {
    let app = App::start();
    let form = form(&[part("file", "a.txt", b"x")]);
    let send = |client: &Client, method, path: &str| client.request(method, path, &[FORM], Some(&form)).unwrap();
    send(&app.acme, "POST", "/api/external/v1/attachments").is_error(404, "Not found");
    for path in ["tracks", "setting", "feature_requests", "changelogs", "attachments/1/2"] {
        app.acme.get(&format!("/api/external/v2/{path}")).is_error(404, "Not found");
    }
    let response = app.acme.get("/api/external/v2/attachments");
    response.is_error(405, "Method not allowed");
    assert_eq!(response.header("allow"), Some("POST"));
    let stranger = Client { key: None, ..app.acme.clone() };
    send(&stranger, "POST", "/api/external/v2/attachments").is_error(401, "Could not authenticate, invalid API Key");
    let reader = app.client("acme", &app.key("acme", &["--scope", "read"]));
    send(&reader, "POST", "/api/external/v2/attachments").is_error(403, "API Key does not have the required scope");
    assert_eq!((blobs(&app), rows(&app)), (vec![], 0));
}

/// Contract 2.7: `blob_url` redirects to the file.
/// Decision 4: `content_type` is detected from the content, and the client's value counts if that is inconclusive.
/// Decision 4: `blob_url` redirects to `/files/…`, or to the bucket.
/// Decision 4: raster images are shown inline, everything else is an attachment.
/// Decision 4: files are sent with `nosniff` and a sandboxing policy.
/// Decision 4: `blob_url` needs no key and returns 302.
/// Beyond the contract: images may be displayed on other sites, other files may not.
#[test]
fn only_raster_images_are_inline_and_active_types_are_octet_streams() {
    let app = App::start();
    for (bytes, content_type, stored, served, kind) in [
        (PNG, "text/html", "image/png", "image/png", "inline"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01".as_slice(), "", "image/jpeg", "image/jpeg", "inline"),
        (b"GIF89a\x01\0\x01\0\0\0\0;", "", "image/gif", "image/gif", "inline"),
        (b"RIFF\x1a\0\0\0WEBPVP8L", "", "image/webp", "image/webp", "inline"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml", "image/svg+xml", BYTES, "attachment"),
        (b"<!doctype html><script>alert(1)</script>", "image/png", "text/html", BYTES, "attachment"),
        (b"<?xml version='1.0'?><a/>", "image/png", "text/xml", BYTES, "attachment"),
        (b"alert(1)", "text/javascript", "text/javascript", BYTES, "attachment"),
        (b"alert(1)", "image/png", BYTES, BYTES, "attachment"),
        (b"%PDF-1.7", "image/png", "application/pdf", BYTES, "attachment"),
        (b"a,b", "text/csv; charset=utf-8", "text/csv", "text/csv", "attachment"),
        (b"hello", "text/plain", "text/plain", "text/plain", "attachment"),
        (b"hello", "", BYTES, BYTES, "attachment"),
    ] {
        let mut file = part("file", "a", bytes);
        if !content_type.is_empty() {
            file.head += &format!("\r\nContent-Type: {content_type}");
        }
        let attachment = post(&app.acme, &[file]).json();
        assert_eq!(attachment["content_type"], stored, "{content_type}");
        let response = open(&app, &attachment["blob_url"], &[]);
        is_guarded(&response);
        assert_eq!((response.status, response.header("content-type")), (200, Some(served)), "{content_type}");
        assert_eq!(response.header("content-disposition").unwrap(), format!("{kind}; filename=\"a\""));
        // Inline images may be embedded by the customer's own pages. All other files are same-origin.
        let policy = if kind == "inline" { "cross-origin" } else { "same-origin" };
        assert_eq!(response.header("cross-origin-resource-policy"), Some(policy), "{content_type}");
    }
}

const BYTES: &str = "application/octet-stream";

/// Beyond the contract: `/files/…` serves one range of bytes, with `If-Range`, `If-None-Match`, `HEAD` and 405.
/// Decision 4.
#[test]
fn parts_of_a_file_are_served_by_byte_range() {
    let app = App::start();
    let bytes: Vec<u8> = (0..=255).cycle().take(700_000).collect();
    let attachment = upload(&app.acme, "a.bin", &bytes);
    let tag = format!("\"{}\"", attachment["checksum"].as_str().unwrap());
    let whole = open(&app, &attachment["blob_url"], &[]);
    assert_eq!((whole.header("etag"), whole.header("accept-ranges")), (Some(tag.as_str()), Some("bytes")));
    for (header, range) in
        [("bytes=0-0", 0..1), ("bytes=300000-600000", 300_000..600_001), ("bytes=-5", 699_995..700_000)]
    {
        let response = open(&app, &attachment["blob_url"], &[("Range", header)]);
        let content_range = format!("bytes {}-{}/700000", range.start, range.end - 1);
        assert_eq!((response.status, response.header("content-range")), (206, Some(content_range.as_str())));
        assert!(response.bytes == bytes[range], "{header}");
        is_guarded(&response);
    }
    let beyond = open(&app, &attachment["blob_url"], &[("Range", "bytes=700000-")]);
    beyond.is_error(416, "Range not satisfiable");
    assert_eq!(beyond.header("content-range"), Some("bytes */700000"));
    let other = open(&app, &attachment["blob_url"], &[("Range", "bytes=0-0"), ("If-Range", "\"other\"")]);
    assert_eq!((other.status, other.bytes.len()), (200, 700_000));
    let known = open(&app, &attachment["blob_url"], &[("If-None-Match", &tag)]);
    assert_eq!((known.status, known.bytes.len()), (304, 0));
    let visitor = Client { key: None, ..app.acme.clone() };
    let head = visitor.request("HEAD", &path_of(&attachment["blob_url"]), &[], None).unwrap();
    assert_eq!((head.status, head.bytes.len()), (302, 0));
    let location = path_of(&json!(head.header("location")));
    let head = visitor.request("HEAD", &location, &[], None).unwrap();
    assert_eq!((head.status, head.bytes.len(), head.header("content-length")), (200, 0, Some("700000")));
    let posted = visitor.request("POST", &location, &[], Some(b"x")).unwrap();
    posted.is_error(405, "Method not allowed");
    assert_eq!(posted.header("allow"), Some("GET, HEAD"));
}

/// Decision 4: `signed_id` and `attachable_sgid` are over workspace, purpose and id, and never valid for another
/// workspace or purpose.
/// Decision 4: a forged `signed_id` or `attachable_sgid` is rejected.
/// Contract 1, 2.7.
#[test]
fn only_the_reference_of_a_file_opens_it() {
    let app = App::start();
    let attachment = upload(&app.acme, "a.txt", b"secret");
    let bolt = Client { key: None, ..app.workspace("bolt") };
    let visitor = Client { key: None, ..app.acme.clone() };
    let signed = attachment["signed_id"].as_str().unwrap();
    let mut flipped = signed.to_owned().into_bytes();
    flipped[20] = if flipped[20] == b'A' { b'B' } else { b'A' };
    let flipped = String::from_utf8(flipped).unwrap();
    let redirect = visitor.get(&path_of(&attachment["blob_url"]));
    let file = path_of(&json!(redirect.header("location")));
    let token = file.split('/').nth(2).unwrap();
    let id = attachment["id"].as_str().unwrap();
    let sgid = attachment["attachable_sgid"].as_str().unwrap();
    for reference in [id, sgid, token, &flipped, "x", "..", "%00", "%ff", &"A".repeat(3_000)] {
        visitor.get(&format!("/blobs/{reference}/a.txt")).is_error(404, "Not found");
    }
    for reference in [id, sgid, signed, &flipped] {
        visitor.get(&format!("/files/{reference}/a.txt")).is_error(404, "Not found");
    }
    // The host of another workspace, and no workspace.
    bolt.get(&path_of(&attachment["blob_url"])).is_error(404, "Not found");
    bolt.get(&file).is_error(404, "Not found");
    for host in ["roadmap.example.com", "nobody.roadmap.example.com", "elsewhere.example"] {
        let elsewhere = Client { host: host.to_owned(), ..visitor.clone() };
        elsewhere.get(&path_of(&attachment["blob_url"])).is_error(404, "Not found");
    }
    // The file name in the URL is informative.
    assert_eq!(visitor.get(&format!("/blobs/{signed}/other%20name.png")).status, 302);
    // A file whose bytes are missing is not found.
    std::fs::remove_file(&blobs(&app)[0]).unwrap();
    visitor.get(&file).is_error(404, "Not found");
}

/// Contract 1: the `signed_id` of an upload becomes a changelog's cover image.
/// Contract 2.7: only the workspace that uploaded a file can use it.
/// Decision 4: a valid cover image is accepted, and another workspace's is 422.
#[test]
fn a_file_is_the_cover_of_a_changelog_of_its_workspace() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    let file = upload(&app.acme, "cover.png", PNG);
    let create = |client: &Client, reference: &Value| {
        let changelog = json!({ "title": "Release", "content": "New", "cover_image_signed_id": reference });
        client.post_changelog(&json!({ "changelog": changelog }))
    };
    let created = create(&app.acme, &file["signed_id"]);
    assert_eq!((created.status, &created.json()["changelog"]["cover_image_url"]), (201, &file["blob_url"]));
    let listed = app.acme.get_changelogs("").json();
    assert_eq!(listed["changelogs"], json!([created.json()["changelog"]]));
    assert_eq!(open(&app, &listed["changelogs"][0]["cover_image_url"], &[]).bytes, PNG);
    let text = upload(&bolt, "cover.png", PNG)["signed_id"].clone();
    for (client, reference) in [
        (&bolt, &file["signed_id"]),
        (&app.acme, &text),
        (&app.acme, &file["attachable_sgid"]),
        (&app.acme, &file["id"]),
        (&app.acme, &file["key"]),
    ] {
        create(client, reference).is_error(422, "Cover image is invalid");
    }
    for (name, bytes) in NO_IMAGES {
        let file = upload(&app.acme, name, bytes);
        create(&app.acme, &file["signed_id"]).is_error(422, "Cover image is invalid");
        let edit = json!({ "changelog": { "cover_image_signed_id": file["signed_id"] } });
        let changelog = created.json()["changelog"]["id"].as_str().unwrap().to_owned();
        app.acme.patch_changelog(&changelog, &edit).is_error(422, "Cover image is invalid");
        let logo = json!({ "portal": { "logo_signed_id": file["signed_id"] } });
        app.acme.patch_portal(&logo).is_error(422, "logo_signed_id is not the signed_id of an uploaded image");
    }
    assert_eq!(app.acme.get_changelogs("").json()["total_count"], 1);
    assert_eq!(bolt.get_changelogs("").json()["total_count"], 0);
}

/// Decision 7: the signing secret is changed with an overlap (not in the decision).
#[test]
fn references_of_a_previous_secret_are_valid() {
    let (old, new) = ("an old secret that has served its time", "a new secret that nobody knows about");
    let mut app = App::with(&[], &[("ROADMAP_SECRET", old)]);
    let file = upload(&app.acme, "a.txt", b"text");
    let responses = |app: &App| {
        let visitor = Client { key: None, ..app.acme.clone() };
        visitor.get(&path_of(&file["blob_url"])).status
    };
    assert_eq!(responses(&app), 302);
    for (secret, previous, status) in [(new, old, 302), (new, "", 404), (old, new, 302)] {
        app.kill();
        app.set_environment(&[("ROADMAP_SECRET", secret), ("ROADMAP_PREVIOUS_SECRETS", previous)]);
        app.restart();
        assert_eq!(responses(&app), status, "{secret}, {previous}");
    }
}

/// Decision 7: `attachments sweep` (not in the decision) removes old files.
/// Beyond the contract: the sweep removes only orphaned files older than a day.
#[test]
fn the_sweep_removes_old_files_without_rows() {
    let mut app = App::start();
    let file = upload(&app.acme, "a.txt", b"text");
    let folder = app.data_dir().join("blobs");
    let blob = blobs(&app).remove(0);
    let yesterday = std::fs::metadata(&blob).unwrap().modified().unwrap() - Duration::from_secs(25 * 3_600);
    let place = |name: &str, old: bool| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = std::fs::File::create(&path).unwrap();
        if old {
            file.set_modified(yesterday).unwrap();
        }
        path
    };
    let workspace = blob.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    // The service sweeps when it starts: that has to be over.
    let first = place(&format!("{workspace}/01890a5d-ac96-774b-bcce-b302099a8056"), true);
    app.restart();
    eventually("the first sweep is over", || !first.exists());
    let orphan = place(&format!("{workspace}/01890a5d-ac96-774b-bcce-b302099a8057"), true);
    let elsewhere = place("01890a5d-ac96-774b-bcce-b302099a8058/01890a5d-ac96-774b-bcce-b302099a8057", true);
    let unfinished = place(&format!("{workspace}/01890a5d-ac96-774b-bcce-b302099a8059#1"), true);
    let others = [
        // A workspace that is missing in this database: its files may belong to another one.
        elsewhere,
        place(&format!("{workspace}/01890a5d-ac96-774b-bcce-b302099a8060"), false),
        place(&format!("{workspace}/01890a5d-ac96-774b-bcce-b302099a8061#1"), false),
        place("notes.txt", true),
    ];
    std::fs::File::options().write(true).open(&blob).unwrap().set_modified(yesterday).unwrap();
    let swept = app.roadmap(&["attachments", "sweep"]).json();
    has_keys(&swept, &["storage", "orphaned_removed", "unfinished_removed", "unused_removed"]);
    assert_eq!((&swept["orphaned_removed"], &swept["unfinished_removed"]), (&json!(1), &json!(1)));
    assert!(!orphan.exists() && !unfinished.exists());
    assert!(blob.exists() && others.iter().all(|path| path.exists()));
    assert_eq!(open(&app, &file["blob_url"], &[]).bytes, b"text");
}

/// Beyond the contract: a storage failure gets 503 and recovers; all other requests are served.
#[test]
fn a_storage_that_fails_is_reported_and_recovers() {
    let app = App::start();
    let file = upload(&app.acme, "a.txt", b"text");
    let (folder, away) = (app.data_dir().join("blobs"), app.data_dir().join("away"));
    std::fs::rename(&folder, &away).unwrap();
    std::fs::write(&folder, "no folder").unwrap();
    let response = post(&app.acme, &[part("file", "a.txt", b"text")]);
    response.is_error(503, "Service is temporarily unavailable");
    assert_eq!(response.header("retry-after"), Some("1"));
    assert_eq!((app.acme.get_tracks().status, rows(&app)), (200, 1));
    std::fs::remove_file(&folder).unwrap();
    std::fs::rename(&away, &folder).unwrap();
    assert_eq!(open(&app, &file["blob_url"], &[]).bytes, b"text");
    upload(&app.acme, "a.txt", b"text");
}

/// Beyond the contract: a file whose row failed is removed by the sweep.
#[test]
fn a_database_failure_leaves_an_orphaned_file_and_no_row() {
    let app = App::start();
    app.data.execute("ALTER TABLE attachments RENAME TO gone");
    assert_eq!(post(&app.acme, &[part("file", "a.txt", b"text")]).status, 500);
    assert_eq!(blobs(&app).len(), 1);
    app.data.execute("ALTER TABLE gone RENAME TO attachments");
    assert_eq!(rows(&app), 0);
}

/// Value of a line in `/proc/<process>/status` in kilobytes.
pub fn memory(process: u32, line: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("the process");
    let line = status.lines().find_map(|found| found.strip_prefix(line)).expect("the line");
    line.trim_matches(|character: char| !character.is_ascii_digit()).parse().expect("a number")
}

/// Beyond the contract: twenty uploads of 50 MB at once take little memory.
#[test]
fn twenty_uploads_at_once_take_little_memory() {
    let app = App::start();
    upload(&app.acme, "warm.bin", &vec![0; 1_000_000]);
    let before = memory(app.process_id(), "VmRSS:");
    let sent = form(&[part("file", "a.bin", &vec![b'x'; LIMIT])]);
    for response in in_parallel(20, |_| app.acme.post_attachment(&sent)) {
        assert_eq!(response.status, 201, "{}", response.text());
    }
    let added = memory(app.process_id(), "VmHWM:") - before;
    println!("twenty uploads of 50 MB at once added {added} kB to the process");
    assert!(added <= 64 * 1024, "{added} kB");
    assert_eq!((blobs(&app).len(), rows(&app)), (21, 21));
}

/// Beyond the contract: no row is without its file, also after kills.
#[test]
fn a_killed_process_leaves_no_row_without_its_file() {
    let mut app = App::start();
    let bytes = vec![b'x'; 400_000];
    let sent = form(&[part("file", "a.bin", &bytes)]);
    let mut acknowledged = 0;
    for kill in 0..5_u64 {
        let client = app.acme.clone();
        let before = rows(&app);
        let counts = std::thread::scope(|scope| {
            let (client, sent) = (&client, &sent);
            let uploads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(move || {
                        let once = || client.try_post_attachment(sent).is_some_and(|response| response.status == 201);
                        std::iter::repeat_with(once).take_while(|done| *done).count()
                    })
                })
                .collect();
            eventually("uploads are done", || rows(&app) > before + 3);
            std::thread::sleep(Duration::from_millis(kill * 7));
            app.kill();
            uploads.into_iter().map(|upload| upload.join().unwrap()).sum::<usize>()
        });
        acknowledged += counts;
        app.restart();
    }
    assert!(rows(&app) >= acknowledged as i64, "{} rows, {acknowledged} acknowledged", rows(&app));
    let folder = app.data_dir().join("blobs");
    for key in app.sql("SELECT key FROM attachments") {
        assert_eq!(std::fs::metadata(folder.join(&key)).unwrap().len(), 400_000, "{key}");
    }
}

/// Decision 4: the link that `blob_url` leads to is valid for five minutes.
/// Decision 7: files can be stored in `s3://bucket/prefix`.
/// Contract 2.7; Beyond the contract.
#[test]
fn a_bucket_serves_its_files_by_presigned_urls() {
    let server = s3::Server::start();
    let mut environment = server.environment();
    environment.push(("ROADMAP_STORAGE_URL".to_owned(), server.url("some/prefix")));
    // The server is slow on a machine that has other work.
    environment.push(("AWS_READ_TIMEOUT".to_owned(), "60s".to_owned()));
    let environment: Vec<(&str, &str)> =
        environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let app = App::with(&[], &environment);
    let visitor = Client { key: None, ..app.acme.clone() };
    let large: Vec<u8> = (0..=255).cycle().take(12_000_001).collect();
    for (name, bytes) in [("ü.png", PNG), ("a.html", b"<!doctype html><p>"), ("large.bin", &large)] {
        let file = upload(&app.acme, name, bytes);
        assert_eq!((&file["service_name"], &file["byte_size"]), (&json!("s3"), &json!(bytes.len())));
        let redirect = visitor.get(&path_of(&file["blob_url"]));
        assert_eq!(redirect.status, 302);
        is_guarded(&redirect);
        let location = redirect.header("location").unwrap();
        assert!(location.contains("X-Amz-Expires=300"), "{location}");
        let mut response = ureq::get(location).call().unwrap();
        let is_inline = name == "ü.png";
        let policy = if is_inline { "cross-origin" } else { "same-origin" };
        assert_eq!(redirect.header("cross-origin-resource-policy"), Some(policy), "{name}");
        let content_type = if is_inline { "image/png" } else { BYTES };
        assert_eq!(response.headers()["content-type"], content_type);
        let disposition = response.headers()["content-disposition"].to_str().unwrap().to_owned();
        assert!(disposition.starts_with(if is_inline { "inline; " } else { "attachment; " }), "{disposition}");
        assert!(response.body_mut().with_config().limit(u64::MAX).read_to_vec().unwrap() == bytes);
    }
    assert_eq!(blobs(&app), Vec::<PathBuf>::new());
    drop(server);
    let response = post(&app.acme, &[part("file", "a.txt", b"text")]);
    response.is_error(503, "Service is temporarily unavailable");
    assert_eq!((app.acme.get_tracks().status, rows(&app)), (200, 3));
}

/// Addition 4: `GET` and `DELETE /api/external/v2/attachments/{id}` show and delete a file, with 409 while a changelog
/// has it.
#[test]
fn an_uploaded_file_is_shown_like_at_its_upload() {
    let app = App::start();
    let uploaded = upload(&app.acme, "\u{dc}bersicht 1.png", PNG);
    let id = uploaded["id"].as_str().unwrap();
    for reference in [id, &id.to_uppercase()] {
        let response = app.acme.get_attachment(reference);
        assert_eq!((response.status, response.json()), (200, uploaded.clone()), "{reference}");
    }
}

/// Addition 4.
#[test]
fn a_deleted_file_is_gone_with_its_content() {
    let app = App::start();
    let (deleted, other) = (upload(&app.acme, "a.txt", b"deleted"), upload(&app.acme, "b.txt", b"kept"));
    let id = deleted["id"].as_str().unwrap();
    app.acme.delete_attachment(id).is_empty();
    assert_eq!((rows(&app), blobs(&app).len()), (1, 1));
    app.acme.get_attachment(id).is_error(404, "Attachment does not exist.");
    app.acme.delete_attachment(id).is_error(404, "Attachment does not exist.");
    let visitor = Client { key: None, ..app.acme.clone() };
    visitor.request("GET", &path_of(&deleted["blob_url"]), &[], None).unwrap().is_error(404, "Not found");
    let changelog = json!({ "title": "1.0", "content": "New", "cover_image_signed_id": deleted["signed_id"] });
    app.acme.post_changelog(&json!({ "changelog": changelog })).is_error(422, "Cover image is invalid");
    assert_eq!(open(&app, &other["blob_url"], &[]).bytes, b"kept");
}

/// Addition 4.
#[test]
fn a_file_that_a_changelog_uses_is_not_deleted() {
    let app = App::start();
    let file = upload(&app.acme, "cover.png", PNG);
    let id = file["id"].as_str().unwrap();
    let fields = json!({ "title": "1.0", "content": "New", "cover_image_signed_id": file["signed_id"] });
    let changelog = app.acme.post_changelog(&json!({ "changelog": fields })).is_ok();
    let changelog = changelog["changelog"]["id"].as_str().unwrap().to_owned();
    let refused = app.acme.delete_attachment(id);
    refused.is_error(409, "Attachment is in use.");
    assert_eq!(refused.header("retry-after"), None);
    assert_eq!(open(&app, &file["blob_url"], &[]).bytes, PNG);
    let without = json!({ "changelog": { "cover_image_signed_id": null } });
    app.acme.patch_changelog(&changelog, &without).is_ok();
    app.acme.delete_attachment(id).is_empty();
    assert_eq!((rows(&app), blobs(&app).len()), (0, 0));
}

/// Addition 4.
#[test]
fn unknown_and_foreign_files_do_not_exist() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    let foreign = upload(&bolt, "a.txt", b"bolt's");
    let id = foreign["id"].as_str().unwrap();
    is_unknown(id, "Attachment", |id| app.acme.get_attachment(id));
    is_unknown(id, "Attachment", |id| app.acme.delete_attachment(id));
    // A reference is no id.
    let reference = foreign["signed_id"].as_str().unwrap();
    bolt.get_attachment(reference).is_error(404, "Attachment does not exist.");
    assert_eq!(bolt.get_attachment(id).json(), foreign);
}
