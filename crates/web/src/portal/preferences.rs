//! The language and the theme, which a visitor chooses in the footer of a page.

use std::rc::Rc;

use roadmap_domain::model::portal::Language;

use crate::actions::{next_path, without_parameter};
use crate::context::Context;
use crate::cookies::{self, LANGUAGE, THEME};
use crate::form::Fields;
use crate::reply::{PageResult, Reply};
use crate::theme::Theme;

/// `POST /preferences`.
pub(crate) async fn save(context: Rc<Context>, fields: Fields) -> PageResult {
    let next = next_path(&fields).map_or_else(|| "/".to_owned(), |next| next.as_str().to_owned());
    // The choice counts from now on, not the language of a link.
    let next = without_parameter(&without_parameter(&next, "lang"), "done");
    let is_https = context.is_https();
    let mut reply = Reply::see_other(next);
    if fields.has("theme") {
        let theme = Theme::from_value(fields.get("theme"));
        reply = reply.with_cookie(cookies::preference(THEME, theme.value(), is_https));
    }
    // Whoever chooses only a theme goes on with the language of the browser or the account.
    let language = parse_language(fields.get("language"), &context.portal.settings.languages);
    if let Some(language) = language.filter(|language| *language != context.language) {
        reply = reply.with_cookie(cookies::preference(LANGUAGE, language.code(), is_https));
    }
    Ok(reply)
}

/// Returns the language with this code, if the portal offers it.
pub(crate) fn parse_language(code: &str, offered: &[Language]) -> Option<Language> {
    Language::from_code(code).filter(|language| offered.contains(language))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_languages_of_the_portal_can_be_chosen() {
        let offered = [Language::English, Language::Arabic];
        assert_eq!(parse_language("ar", &offered), Some(Language::Arabic));
        assert_eq!(parse_language("de", &offered), None);
        assert_eq!(parse_language("", &offered), None);
    }
}
