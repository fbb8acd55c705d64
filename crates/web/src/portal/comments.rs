//! Comments on a feature request, as pages show them and as somebody is writing one.

use roadmap_domain::model::comment::{ListedComment, PublicAuthor};
use roadmap_domain::model::portal::HeldComment;
use roadmap_domain::model::text::Name;

use crate::form::Problems;
use crate::prose;
use crate::text::Text;

/// A comment.
pub(crate) struct CommentView {
    pub(crate) id: String,
    /// The name of the author.
    pub(crate) author: String,
    /// What the viewer can do about it, if it is an own one.
    pub(crate) own: Option<OwnLinks>,
    /// The first letters of the name. Empty without a name.
    pub(crate) initials: String,
    /// Whether the team has written it.
    pub(crate) is_team: bool,
    /// The time in words.
    pub(crate) date: String,
    /// The time for programs.
    pub(crate) machine_date: String,
    /// Whether it was edited.
    pub(crate) is_edited: bool,
    /// The title of the merged feature request that it was written on.
    pub(crate) from: Option<String>,
    /// The content, to be inserted without escaping.
    pub(crate) html: String,
}

impl CommentView {
    /// Creates the view of a public comment.
    pub(crate) fn new(t: Text, listed: &ListedComment) -> Self {
        let (author, name, is_team) = match &listed.author {
            PublicAuthor::Member(Some(name)) => (name.as_str().to_owned(), Some(name), true),
            PublicAuthor::Member(None) => (t.get("team").into_owned(), None, true),
            PublicAuthor::Customer(name) => (customer(t, name.as_ref()), name.as_ref(), false),
        };
        let comment = &listed.comment;
        Self {
            id: comment.id.to_string(),
            author,
            own: None,
            initials: name.map(|name| initials(name.as_str())).unwrap_or_default(),
            is_team,
            date: t.date_time(comment.created_at),
            machine_date: comment.created_at.to_string(),
            is_edited: listed.updated_at > comment.created_at,
            from: listed.from.as_ref().map(|from| from.title.as_str().to_owned()),
            html: prose::html(&comment.content),
        }
    }

    /// Creates the view of a comment that waits for approval.
    pub(crate) fn held(t: Text, held: &HeldComment) -> Self {
        Self {
            id: held.id.to_string(),
            author: customer(t, held.author.name.as_ref()),
            own: None,
            initials: held.author.name.as_ref().map(|name| initials(name.as_str())).unwrap_or_default(),
            is_team: false,
            date: t.date_time(held.created_at),
            machine_date: held.created_at.to_string(),
            is_edited: false,
            from: None,
            html: prose::html(&held.content),
        }
    }

    /// Says that the viewer has written it.
    pub(crate) fn own(self, t: Text, own: OwnLinks) -> Self {
        let author = if self.initials.is_empty() { t.get("you").into_owned() } else { self.author };
        Self { own: Some(own), author, ..self }
    }
}

/// The links of an own post.
pub(crate) struct OwnLinks {
    /// The path of the form that edits it, as long as that is possible.
    pub(crate) edit: Option<String>,
    /// The path of the question whether to delete it.
    pub(crate) delete: String,
}

impl OwnLinks {
    /// Returns those of the post with a path.
    pub(crate) fn new(path: &str, is_editable: bool) -> Self {
        Self { edit: is_editable.then(|| format!("{path}/edit")), delete: format!("{path}/delete") }
    }
}

/// A comment that somebody is writing, as its form shows it again. `request::render(&context, draft)` shows the page of
/// the feature request with it: 422 if it has problems, else 200 with the preview.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommentDraft {
    /// The Markdown as typed.
    pub(crate) content: String,
    /// The address as typed, if nobody is signed in.
    pub(crate) email: String,
    /// The comment as HTML, if a preview was asked for.
    pub(crate) preview: Option<String>,
    /// The problems of the fields `content` and `email`.
    pub(crate) problems: Problems,
}

/// Returns the name of a customer, as everybody may see it.
pub(crate) fn customer(t: Text, name: Option<&Name>) -> String {
    name.map_or_else(|| t.get("customer").into_owned(), |name| name.as_str().to_owned())
}

/// Returns the first letters of the first and the last word of a name. Scripts that join letters get one letter.
pub(crate) fn initials(name: &str) -> String {
    let mut letters = name.split_whitespace().filter_map(|word| word.chars().find(|letter| letter.is_alphanumeric()));
    let first = letters.next();
    let is_latin = |letter: &char| *letter < '\u{250}';
    let last = letters.next_back().filter(is_latin).filter(|_| first.as_ref().is_some_and(is_latin));
    first.into_iter().chain(last).flat_map(char::to_uppercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initials_are_two_letters_at_most() {
        for (name, expected) in [
            ("Maja Lindqvist", "ML"),
            ("ann", "A"),
            ("Ada de la Cruz", "AC"),
            ("\u{fc}n\u{ef}", "\u{dc}"),
            ("(Bo) [Ek]", "BE"),
            ("\u{645}\u{64a} \u{646}\u{648}\u{631}", "\u{645}"),
            ("\u{1f600}", ""),
        ] {
            assert_eq!(initials(name), expected);
        }
    }
}
