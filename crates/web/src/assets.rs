//! The stylesheet, the script and the icons, compiled into the binary.
//!
//! The name of an asset contains a hash of its content, so that browsers keep it for ever and still get a new version
//! at once.

use std::sync::LazyLock;

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY, X_CONTENT_TYPE_OPTIONS};
use actix_web::web::Bytes;
use actix_web::{HttpResponse, HttpResponseBuilder};
use flate2::Compression;
use roadmap_http::error::HttpError;
use sha2::{Digest, Sha256};

use crate::digest::hex;
use crate::gzip::{accepts_gzip, compress};

/// How long immutable content is kept.
pub(crate) const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// The paths of all assets.
pub(crate) struct Assets {
    pub(crate) stylesheet: String,
    /// The script, without which everything works.
    pub(crate) script: String,
    /// The icons: one SVG file with symbols.
    pub(crate) icons: String,
    files: [Asset; 3],
}

struct Asset {
    path: String,
    content_type: &'static str,
    content: Bytes,
    compressed: Bytes,
}

impl Asset {
    fn new(name: &str, extension: &str, content_type: &'static str, source: &str) -> Self {
        let content = without_comments(source);
        let hash = hex(Sha256::digest(&content).iter().take(8));
        let path = format!("/assets/{name}.{hash}.{extension}");
        let compressed = compress(content.as_bytes(), Compression::best());
        Self { path, content_type, content: Bytes::from(content), compressed }
    }
}

/// Removes what only readers of a source need: indentation, blank lines, and comments that are a line. Texts of several lines
/// would lose their indentation, so the sources have none.
fn without_comments(source: &str) -> String {
    let is_whole = |rest: &str| rest.find("*/").is_some_and(|end| end + 2 == rest.len());
    let is_comment = |line: &str| line.starts_with("//") || line.strip_prefix("/*").is_some_and(is_whole);
    let lines = source.lines().map(str::trim).filter(|line| !line.is_empty() && !is_comment(line));
    lines.collect::<Vec<_>>().join("\n")
}

static ASSETS: LazyLock<Assets> = LazyLock::new(|| {
    let files = [
        Asset::new("site", "css", "text/css; charset=utf-8", include_str!("../assets/site.css")),
        Asset::new("enhance", "js", "text/javascript; charset=utf-8", include_str!("../assets/enhance.js")),
        Asset::new("icons", "svg", "image/svg+xml", include_str!("../assets/icons.svg")),
    ];
    let [stylesheet, script, icons] = files.each_ref().map(|file| file.path.clone());
    Assets { stylesheet, script, icons, files }
});

impl Assets {
    /// Returns the assets.
    pub(crate) fn get() -> &'static Self {
        &ASSETS
    }
}

/// `GET /assets/{file}`.
pub(crate) async fn show(request: HttpRequest) -> Result<HttpResponse, HttpError> {
    let asset = ASSETS.files.iter().find(|asset| asset.path == request.path()).ok_or(HttpError::NotFound)?;
    let mut response = HttpResponseBuilder::new(StatusCode::OK);
    response
        .insert_header((CONTENT_TYPE, asset.content_type))
        .insert_header((CACHE_CONTROL, IMMUTABLE))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header(("Cross-Origin-Resource-Policy", "same-origin"))
        .insert_header((VARY, "Accept-Encoding"));
    Ok(if accepts_gzip(&request) {
        response.insert_header((CONTENT_ENCODING, "gzip")).body(asset.compressed.clone())
    } else {
        response.body(asset.content.clone())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indentation_blank_lines_and_lines_of_comments_are_not_served() {
        for (source, expected) in [
            ("// What\n\n  a();  // why\n\tb()\n", "a();  // why\nb()"),
            ("  /* What. */\n  .a { b: c }\n", ".a { b: c }"),
            ("/* a */ .b { c: d } /* e */", "/* a */ .b { c: d } /* e */"),
            ("/* Two\n   lines. */\na", "/* Two\nlines. */\na"),
            ("url(//x)", "url(//x)"),
            ("/*/", "/*/"),
            ("", ""),
        ] {
            assert_eq!(without_comments(source), expected);
        }
    }

    #[test]
    fn no_text_of_the_script_has_several_lines() {
        let script = include_str!("../assets/enhance.js");
        assert!(script.lines().all(|line| line.matches('`').count().is_multiple_of(2)));
    }
}
