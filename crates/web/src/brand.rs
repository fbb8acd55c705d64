//! The stylesheet with a workspace's accent colour, and the logo of a workspace that has uploaded none. Their addresses
//! contain all that they are made of, so that they never change and nothing is looked up.

mod logo;

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use roadmap_domain::model::portal::Color;
use roadmap_domain::policy::contrast::{AccentColors, AccentPalette};
use roadmap_http::error::HttpError;

use crate::assets::IMMUTABLE;

pub(crate) use logo::LetterLogo;

/// Changes with the rules of `policy::contrast`, so that browsers get the colours of the new rules.
const VERSION: &str = "2";

/// Returns the path of the stylesheet for an accent colour.
pub(crate) fn path(accent: Color) -> String {
    format!("/brand/{VERSION}-{}.css", digits(accent))
}

/// Returns the digits of a colour.
fn digits(color: Color) -> String {
    color.to_string().trim_start_matches('#').to_owned()
}

/// `GET /brand/{file}`.
pub(crate) async fn show(request: HttpRequest) -> Result<HttpResponse, HttpError> {
    let file = request.match_info().get("file").unwrap_or_default();
    let (content_type, content) = content(file).ok_or(HttpError::NotFound)?;
    Ok(HttpResponseBuilder::new(StatusCode::OK)
        .insert_header((CONTENT_TYPE, content_type))
        .insert_header((CACHE_CONTROL, IMMUTABLE))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header(("Cross-Origin-Resource-Policy", "same-origin"))
        // An image that is opened by its address is a document.
        .insert_header((CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"))
        .body(content))
}

/// Returns the type and the content of the file with this name.
fn content(file: &str) -> Option<(&'static str, String)> {
    match file.rsplit_once('.')? {
        (name, "css") => {
            let digits = name.strip_prefix(VERSION)?.strip_prefix('-').filter(|digits| digits.len() == 6)?;
            Some(("text/css; charset=utf-8", stylesheet(Color::from_hex(&format!("#{digits}"))?)))
        }
        (name, "svg") => Some(("image/svg+xml", LetterLogo::from_name(name)?.image())),
        _ => None,
    }
}

fn stylesheet(accent: Color) -> String {
    let AccentPalette { light, dark } = AccentPalette::of(accent);
    let property = |name: &str, part: fn(&AccentColors) -> Color| {
        format!("--{name}:light-dark({},{});", part(&light), part(&dark))
    };
    format!(
        ":root{{{}{}{}{}{}}}\n",
        property("accent", |colors| colors.fill),
        property("accent-ink", |colors| colors.on_fill),
        property("accent-hover", AccentColors::hover),
        property("accent-edge", |colors| colors.edge),
        property("accent-text", |colors| colors.text)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mail has the default colours of `AccentPalette`, and pages those of their own stylesheet.
    #[test]
    fn the_default_colours_of_pages_are_those_of_mail() {
        let site = include_str!("../assets/site.css");
        let AccentPalette { light, dark } = AccentPalette::DEFAULT;
        for (name, light, dark) in [
            ("accent", light.fill, dark.fill),
            ("accent-ink", light.on_fill, dark.on_fill),
            ("accent-edge", light.edge, dark.edge),
            ("accent-text", light.text, dark.text),
        ] {
            assert!(site.contains(&format!("--{name}: light-dark({light}, {dark});")), "{name}");
        }
    }

    #[test]
    fn a_file_has_the_name_that_pages_give_it() {
        let green = Color::new(0x17, 0x69, 0x4f);
        let name = |path: String| path.strip_prefix("/brand/").unwrap().to_owned();
        assert_eq!(content(&name(path(green))), Some(("text/css; charset=utf-8", stylesheet(green))));
        let (content_type, image) = content(&name(LetterLogo::NEUTRAL.path())).unwrap();
        assert!(content_type == "image/svg+xml" && image.starts_with("<svg "), "{content_type} {image}");
        for file in [
            "",
            ".",
            ".css",
            ".svg",
            "2-17694f",
            "2-17694f.CSS",
            "2-17694f.png",
            "2-17694f.css.svg",
            "2-17694.css",
            "2-17694g.css",
            "217694f.css",
            "1-17694f.css",
            "2-17694f-41.css",
            "2-#7694f.css",
            "2-+7694f.css",
            "2-é694f.css",
            "2-éé4f.css",
        ] {
            assert_eq!(content(file), None, "{file}");
        }
    }

    #[test]
    fn the_stylesheet_sets_all_colours_for_both_themes() {
        let green = Color::new(0x17, 0x69, 0x4f);
        assert_eq!(path(green), "/brand/2-17694f.css");
        let stylesheet = stylesheet(green);
        assert!(stylesheet.starts_with(":root{--accent:light-dark(#17694f,#17694f);"), "{stylesheet}");
        for name in ["ink", "hover", "edge", "text"] {
            assert!(stylesheet.contains(&format!(";--accent-{name}:light-dark(#")), "{name}: {stylesheet}");
        }
    }
}
