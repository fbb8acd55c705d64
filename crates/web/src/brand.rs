//! The stylesheet with a workspace's accent colour. Its address contains the colour, so that it never changes.

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use roadmap_domain::model::portal::Color;
use roadmap_domain::policy::contrast::{AccentColors, AccentPalette};
use roadmap_http::error::HttpError;

use crate::assets::IMMUTABLE;

/// Changes with the rules of `policy::contrast`, so that browsers get the colours of the new rules.
const VERSION: &str = "2";

/// Returns the path of the stylesheet for an accent colour.
pub(crate) fn path(accent: Color) -> String {
    format!("/brand/{VERSION}-{}.css", accent.to_string().trim_start_matches('#'))
}

/// `GET /brand/{file}`.
pub(crate) async fn show(request: HttpRequest) -> Result<HttpResponse, HttpError> {
    let file = request.match_info().get("file").unwrap_or_default();
    let digits = file.strip_suffix(".css").and_then(|name| name.strip_prefix(&format!("{VERSION}-")));
    let accent = digits.filter(|digits| digits.len() == 6).and_then(|digits| Color::from_hex(&format!("#{digits}")));
    let accent = accent.ok_or(HttpError::NotFound)?;
    Ok(HttpResponseBuilder::new(StatusCode::OK)
        .insert_header((CONTENT_TYPE, "text/css; charset=utf-8"))
        .insert_header((CACHE_CONTROL, IMMUTABLE))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header(("Cross-Origin-Resource-Policy", "same-origin"))
        .body(stylesheet(accent)))
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
