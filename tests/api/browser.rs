//! A browser without a screen: cookies, forms and redirects, against the pages of a running service.

use std::cell::RefCell;
use std::collections::BTreeMap;

use mailparse::parse_mail;

use crate::app::{App, BASE_HOST, Client, Response, eventually, files_below};

/// A browser at one workspace. It sends what a browser on plain HTTP sends: `Origin`, but no `Sec-Fetch-Site`.
pub struct Browser {
    client: Client,
    cookies: RefCell<BTreeMap<String, String>>,
}

impl Browser {
    /// Opens a browser at `acme`.
    pub fn new(app: &App) -> Self {
        Self::at(app, "acme")
    }

    /// Opens a browser at a workspace.
    pub fn at(app: &App, subdomain: &str) -> Self {
        let client = Client { key: None, ..app.client(subdomain, "") };
        Self { client, cookies: RefCell::default() }
    }

    /// Opens a browser that is signed in with an address.
    pub fn signed_in(app: &App, email: &str) -> Self {
        let browser = Self::new(app);
        let link = app.roadmap(&["sign-in", "link", "--workspace", "acme", "--email", email]).json();
        let path = path_of(link["url"].as_str().expect("a URL"));
        let response = browser.post(&path, &[("choice", "only")]);
        assert_eq!(response.status, 303, "{}", response.text());
        browser
    }

    /// Returns the origin of the workspace.
    pub fn origin(&self) -> String {
        format!("https://{}", self.client.host)
    }

    /// Whether a cookie with this name is stored.
    pub fn has_cookie(&self, name: &str) -> bool {
        self.cookies.borrow().contains_key(name)
    }

    /// Returns the stored cookies as a header.
    pub fn cookie_header(&self) -> String {
        let pairs: Vec<String> = self.cookies.borrow().iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join("; ")
    }

    /// Returns a browser with the same cookies.
    pub fn duplicate(&self) -> Self {
        Self { client: self.client.clone(), cookies: self.cookies.clone() }
    }

    /// Returns a browser at another workspace with the same cookies.
    pub fn moved_to(&self, subdomain: &str) -> Self {
        let host = format!("{subdomain}.{BASE_HOST}");
        Self { client: Client { host, ..self.client.clone() }, cookies: self.cookies.clone() }
    }

    /// Sends a request with the cookies and further headers, and stores the cookies of the response.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&[u8]>) -> Response {
        let cookies = self.cookie_header();
        let mut headers = headers.to_vec();
        if !cookies.is_empty() {
            headers.push(("Cookie", &cookies));
        }
        let response = self.client.request(method, path, &headers, body).expect("a response");
        for cookie in response.headers.get_all("set-cookie") {
            let cookie = cookie.to_str().expect("text");
            let (pair, attributes) = cookie.split_once(';').expect("attributes");
            let (name, value) = pair.split_once('=').expect("a value");
            assert!(attributes.contains("Path=/") && !attributes.contains("Domain"), "{cookie}");
            if attributes.contains("Max-Age=0") {
                self.cookies.borrow_mut().remove(name);
            } else {
                self.cookies.borrow_mut().insert(name.to_owned(), value.to_owned());
            }
        }
        response
    }

    /// Opens a page, without following a redirect.
    pub fn get(&self, path: &str) -> Response {
        self.send("GET", path, &[], None)
    }

    /// Opens a page and returns its HTML.
    #[track_caller]
    pub fn page(&self, path: &str) -> String {
        let response = self.get(path);
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        response.text()
    }

    /// Sends a form from a page of the workspace.
    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> Response {
        let origin = self.origin();
        self.post_with(path, fields, &[("Origin", &origin)])
    }

    /// Sends a form with these headers.
    pub fn post_with(&self, path: &str, fields: &[(&str, &str)], headers: &[(&str, &str)]) -> Response {
        let body = encode(fields);
        let mut headers = headers.to_vec();
        headers.push(("Content-Type", "application/x-www-form-urlencoded"));
        self.send("POST", path, &headers, Some(body.as_bytes()))
    }

    /// Sends a form that is accepted, and returns the path to which it leads.
    #[track_caller]
    pub fn submit(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let response = self.post(path, fields);
        assert_eq!(response.status, 303, "{path}: {}", response.text());
        response.header("location").expect("a location").to_owned()
    }
}

/// Encodes fields as browsers do.
pub fn encode(fields: &[(&str, &str)]) -> String {
    let encode = |text: &str| -> String {
        text.bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'*' => char::from(byte).to_string(),
                byte => format!("%{byte:02X}"),
            })
            .collect()
    };
    fields.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect::<Vec<_>>().join("&")
}

/// Returns the path of a URL of the service.
pub fn path_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("/".to_owned(), |start| rest[start..].to_owned())
}

/// Returns the value of a hidden field of a page.
#[track_caller]
pub fn hidden(page: &str, name: &str) -> String {
    let mark = format!("name=\"{name}\" value=\"");
    let rest = page.split_once(&mark).unwrap_or_else(|| panic!("no field {name}: {page}")).1;
    rest.split('"').next().expect("an end").to_owned()
}

/// The mail of a sign-in.
#[derive(Debug)]
pub struct SignInMail {
    /// The path of the link.
    pub path: String,
    /// The code. Empty if there is none.
    pub code: String,
    /// The subject.
    pub subject: String,
}

/// Waits for the sign-in mails of an address and returns them, oldest first.
pub fn sign_in_mails(app: &App, email: &str, expected: usize) -> Vec<SignInMail> {
    let all = || {
        let mut mails = files_below(&app.data_dir().join("mail"));
        mails.retain(|file| file.extension().is_some_and(|extension| extension == "eml"));
        mails.sort();
        let mails = mails.into_iter().filter_map(|file| std::fs::read(file).ok());
        mails.filter_map(|mail| sign_in_mail(&mail, email)).collect::<Vec<_>>()
    };
    eventually("the mails are there", || all().len() >= expected);
    let mails = all();
    assert_eq!(mails.len(), expected);
    mails
}

fn sign_in_mail(mail: &[u8], email: &str) -> Option<SignInMail> {
    let parsed = parse_mail(mail).ok()?;
    let header =
        |name: &str| parsed.headers.iter().find(|header| header.get_key() == name).map(|header| header.get_value());
    if header("To")? != email {
        return None;
    }
    let text = parsed.subparts.first()?.get_body().ok()?;
    let url = text.split_whitespace().find(|word| word.contains("/sign-in/"))?;
    assert!(url.starts_with(&format!("https://acme.{BASE_HOST}/sign-in/")), "{url}");
    let is_code = |word: &&str| {
        let (one, other) = word.split_once('-').unwrap_or_default();
        one.len() == 4
            && other.len() == 4
            && word.bytes().all(|byte| byte == b'-' || byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    let code = text.split_whitespace().find(is_code).unwrap_or_default().to_owned();
    Some(SignInMail { path: path_of(url), code, subject: header("Subject")? })
}

/// A page has these parts.
#[track_caller]
pub fn shows(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "{part}: {page}");
    }
}
