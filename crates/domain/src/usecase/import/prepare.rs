//! Makes the records of a source fit for the store, before anything is written: clean texts of the lengths that records have
//! here.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::error::Validated;
use crate::model::feature_request::Title;
use crate::model::html::CleanHtml;
use crate::model::id::AttachmentId;
use crate::model::import::records::{Changelog, Comment, FeatureRequest, File, Note, Prepared, Record, stored_id};
use crate::model::markdown;
use crate::model::picture;
use crate::model::text::truncate;

/// What was changed so that a record fits: something that its reader should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adjustment {
    /// The description goes on in comments.
    DescriptionContinued,
    /// The comment goes on in further comments.
    CommentContinued,
    /// The note goes on in further notes.
    NoteContinued,
    /// The changelog goes on in further changelogs.
    ChangelogContinued,
    /// The text has so much markup, or shows so little, that it is shown as it was typed.
    ShownAsText,
}

impl Adjustment {
    /// Returns the field of the source and a sentence about it.
    #[must_use]
    pub const fn describe(self) -> (&'static str, &'static str) {
        match self {
            Self::DescriptionContinued => {
                ("description", "the description is longer than 20,000 characters: it goes on in comments")
            }
            Self::CommentContinued => {
                ("body", "the comment is longer than 20,000 characters: it goes on in further ones")
            }
            Self::NoteContinued => ("body", "the note is longer than 20,000 characters: it goes on in further ones"),
            Self::ChangelogContinued => {
                ("body", "the changelog is longer than 20,000 characters: it goes on in further ones")
            }
            Self::ShownAsText => ("body", "the text cannot be shown with its markup: it is shown as it was typed"),
        }
    }
}

/// The records that a record of a source becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedRecords {
    /// The record, then those in which its text goes on.
    pub records: Vec<Prepared<Record>>,
    pub adjustments: Vec<Adjustment>,
}

/// The pictures that texts of a source can have.
#[derive(Debug, Default)]
pub struct Pictures {
    by_external_id: HashMap<String, AttachmentId>,
    ids: HashSet<AttachmentId>,
}

impl Pictures {
    /// Adds a picture.
    pub fn add(&mut self, external_id: String, id: AttachmentId) {
        self.by_external_id.insert(external_id, id);
        self.ids.insert(id);
    }

    /// Returns a text in which the addresses of pictures are those that they have here. One that is not there leaves its name.
    fn place<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let scheme = File::link("");
        if !text.contains(&scheme) {
            return Cow::Borrowed(text);
        }
        let mut placed = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(&scheme) {
            placed.push_str(before);
            let end = after.find(|c: char| !c.is_ascii_graphic() || "<>()\\".contains(c)).unwrap_or(after.len());
            let (external_id, following) = after.split_at(end);
            match self.by_external_id.get(external_id) {
                Some(id) => placed.push_str(&picture::path(*id)),
                // Of a picture with such an address, only the name is shown.
                None if before.ends_with("](") => placed.extend(["/", external_id]),
                None => placed.extend([&scheme, external_id]),
            }
            rest = following;
        }
        placed.push_str(rest);
        Cow::Owned(placed)
    }

    /// Whether a text has only pictures of the source. One that names a picture of the workspace by its path has another.
    fn are_all_of(&self, html: &CleanHtml) -> bool {
        html.pictures().iter().all(|id| self.ids.contains(id))
    }
}

/// Prepares a record, with the pictures that its texts can have.
///
/// # Errors
/// None: a record is always JSON.
pub fn prepare(record: Record, pictures: &Pictures) -> serde_json::Result<PreparedRecords> {
    let digest = if record.is_remembered() { record.digest()? } else { String::new() };
    let mut adjustments = Vec::new();
    let records = match record {
        Record::FeatureRequest(request) => prepare_request(request, pictures, &mut adjustments),
        Record::Comment(comment) => {
            let continued = Adjustment::CommentContinued;
            let bodies = bodies(&comment.body, pictures, continued, &mut adjustments);
            let of_body = |(id, body)| {
                Record::Comment(Comment {
                    external_id: id,
                    request: stored_id(&comment.request).into_owned(),
                    body,
                    ..comment.clone()
                })
            };
            parts(&comment.external_id, bodies).map(of_body).collect()
        }
        Record::Note(note) => {
            // Notes have no pictures.
            let bodies = bodies(&note.body, &Pictures::default(), Adjustment::NoteContinued, &mut adjustments);
            let of_body = |(id, body)| {
                Record::Note(Note {
                    external_id: id,
                    request: stored_id(&note.request).into_owned(),
                    body,
                    ..note.clone()
                })
            };
            parts(&note.external_id, bodies).map(of_body).collect()
        }
        Record::Vote(mut vote) => {
            vote.request = stored_id(&vote.request).into_owned();
            vec![Record::Vote(vote)]
        }
        Record::Subscription(mut subscription) => {
            subscription.request = stored_id(&subscription.request).into_owned();
            vec![Record::Subscription(subscription)]
        }
        Record::Move(mut moved) => {
            moved.request = stored_id(&moved.request).into_owned();
            moved.external_id = stored_id(&moved.external_id).into_owned();
            vec![Record::Move(moved)]
        }
        Record::Changelog(changelog) => {
            let bodies = bodies(&changelog.body, pictures, Adjustment::ChangelogContinued, &mut adjustments);
            parts_of_changelog(&changelog, bodies)
        }
        other => vec![other],
    };
    let prepared = |record| Prepared { digest: digest.clone(), record };
    Ok(PreparedRecords { records: records.into_iter().map(prepared).collect(), adjustments })
}

/// Returns a changelog and those in which its text goes on. Only the first one links to feature requests.
fn parts_of_changelog(changelog: &Changelog, bodies: Vec<String>) -> Vec<Record> {
    let part = |(place, (external_id, body)): (usize, (String, String))| {
        let (title, requests) = match place {
            0 => {
                let stored = changelog.requests.iter().map(|id| stored_id(id).into_owned());
                (changelog.title.clone(), stored.collect())
            }
            _ => {
                let number = format!(" ({})", place + 1);
                let title = truncate(&changelog.title, Title::MAX - number.len()).trim_end();
                (format!("{title}{number}"), Vec::new())
            }
        };
        Record::Changelog(Changelog { external_id, title, body, requests, ..changelog.clone() })
    };
    parts(&changelog.external_id, bodies).enumerate().map(part).collect()
}

fn prepare_request(request: FeatureRequest, pictures: &Pictures, adjustments: &mut Vec<Adjustment>) -> Vec<Record> {
    let mut texts = split(&request.description).into_iter();
    let (description, is_text) = clean(texts.next().unwrap_or_default(), pictures, false);
    if is_text {
        adjustments.push(Adjustment::ShownAsText);
    }
    let rest: Vec<String> = texts.map(|text| clean(text, pictures, true).0).collect();
    if !rest.is_empty() {
        adjustments.push(Adjustment::DescriptionContinued);
    }
    let id = stored_id(&request.external_id).into_owned();
    let comment = |(place, body): (usize, String)| {
        Record::Comment(Comment {
            external_id: part_id(&format!("{id} description"), place),
            request: id.clone(),
            body,
            author: request.author.clone(),
            is_team: request.is_team,
            is_held: false,
            created_at: request.created_at,
            origin: request.origin,
        })
    };
    let comments: Vec<_> = (1..).zip(rest).map(comment).collect();
    let merged_into = request.merged_into.as_deref().map(|id| stored_id(id).into_owned());
    let request = FeatureRequest { external_id: id, description, merged_into, ..request };
    std::iter::once(Record::FeatureRequest(request)).chain(comments).collect()
}

/// Returns the clean parts of the text of a comment or a note.
fn bodies(text: &str, pictures: &Pictures, continued: Adjustment, adjustments: &mut Vec<Adjustment>) -> Vec<String> {
    let (bodies, are_texts): (Vec<_>, Vec<_>) = split(text).into_iter().map(|part| clean(part, pictures, true)).unzip();
    if are_texts.contains(&true) {
        adjustments.push(Adjustment::ShownAsText);
    }
    if bodies.len() > 1 {
        adjustments.push(continued);
    }
    bodies
}

/// Returns the parts of a text with the ids of their records.
fn parts(id: &str, bodies: Vec<String>) -> impl Iterator<Item = (String, String)> {
    bodies.into_iter().enumerate().map(move |(place, body)| (part_id(id, place), body))
}

/// Returns the stored id of a part of a record, of which the first one has the id of the record.
fn part_id(id: &str, place: usize) -> String {
    match place {
        0 => stored_id(id).into_owned(),
        _ => stored_id(&format!("{id} {}", place + 1)).into_owned(),
    }
}

/// Returns clean HTML, and whether it shows the text as it was typed. A required text always shows something.
fn clean(text: &str, pictures: &Pictures, is_required: bool) -> (String, bool) {
    let shows = |html: &CleanHtml| !is_required || !html.to_text().trim().is_empty() || html.has_pictures();
    let html: Validated<_> = markdown::imported_to_html("text", &pictures.place(text.trim()));
    match html {
        Ok(html) if shows(&html) && pictures.are_all_of(&html) => (html.as_str().trim().to_owned(), false),
        _ => (CleanHtml::of_text(text.trim()).as_str().to_owned(), true),
    }
}

/// Splits a text into parts of at most as many characters as a typed text has, each as long as possible: at the end of a
/// paragraph, else of a line, else of a word.
fn split(mut text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    loop {
        let start = truncate(text, markdown::MAX);
        if start.len() == text.len() {
            parts.push(text);
            return parts;
        }
        // Not so early that there are many parts.
        let earliest = truncate(text, markdown::MAX / 2).len();
        let end = ["\n\n", "\n", " "]
            .into_iter()
            .filter_map(|between| start.rfind(between).map(|at| at + between.len()))
            .find(|end| *end > earliest)
            .unwrap_or(start.len());
        let (part, rest) = text.split_at(end);
        parts.push(part);
        if rest.trim().is_empty() {
            return parts;
        }
        text = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::import::records::{Origin, Person, PersonKey, Vote};
    use crate::usecase::fixtures::now;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn request(description: &str) -> FeatureRequest {
        let ann = Person { key: PersonKey::Email("ann@a.example".to_owned()), name: None };
        FeatureRequest {
            external_id: "A".to_owned(),
            title: "Dark mode".to_owned(),
            description: description.to_owned(),
            status: None,
            tags: Vec::new(),
            is_private: false,
            awaits_approval: false,
            author: Some(ann),
            is_team: false,
            nameless_votes: 0,
            created_at: Some(now()),
            url: None,
            merged_into: None,
            origin: Origin { file: 0, line: 2 },
        }
    }

    fn comment(body: &str) -> Comment {
        let FeatureRequest { origin, author, .. } = request("");
        Comment {
            external_id: "C".to_owned(),
            request: "A".to_owned(),
            body: body.to_owned(),
            author,
            is_team: false,
            is_held: false,
            created_at: None,
            origin,
        }
    }

    fn prepared(record: Record) -> (Vec<Record>, Vec<Adjustment>) {
        let digest = if record.is_remembered() { record.digest().unwrap() } else { String::new() };
        let prepared = prepare(record, &Pictures::default()).unwrap();
        assert!(prepared.records.iter().all(|record| record.digest == digest));
        (prepared.records.into_iter().map(|prepared| prepared.record).collect(), prepared.adjustments)
    }

    #[test]
    fn texts_become_clean_html() {
        let (records, adjustments) = prepared(Record::FeatureRequest(request("a *b*\n<script>x</script>")));
        let expected = FeatureRequest { description: "<p>a <em>b</em></p>".to_owned(), ..request("") };
        assert_eq!((records, adjustments), (vec![Record::FeatureRequest(expected)], vec![]));
        let (records, _) = prepared(Record::Comment(comment("**Yes**")));
        assert_eq!(records, [Record::Comment(comment("<p><strong>Yes</strong></p>"))]);
        // A description may show nothing.
        let (records, adjustments) = prepared(Record::FeatureRequest(request("<!-- write here -->")));
        assert_eq!((records, adjustments), (vec![Record::FeatureRequest(request(""))], vec![]));
    }

    #[test]
    fn a_text_that_would_show_nothing_is_shown_as_it_was_typed() {
        for (body, shown) in [
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            (&*"<b>".repeat(6_000), &*"&lt;b&gt;".repeat(6_000)),
        ] {
            let (records, adjustments) = prepared(Record::Comment(comment(body)));
            assert_eq!(records, [Record::Comment(comment(shown))]);
            assert_eq!(adjustments, [Adjustment::ShownAsText]);
        }
    }

    #[test]
    fn a_long_description_goes_on_in_comments_of_its_author() {
        let paragraph = "word ".repeat(2_000);
        let text = [&*paragraph; 5].join("\n\n");
        let (records, adjustments) = prepared(Record::FeatureRequest(request(&text)));
        assert_eq!(adjustments, [Adjustment::DescriptionContinued]);
        let [Record::FeatureRequest(first), rest @ ..] = &*records else { panic!() };
        let mut words = first.description.matches("word").count();
        for (place, record) in rest.iter().enumerate() {
            let Record::Comment(part) = record else { panic!() };
            assert_eq!(
                (&*part.request, part.author.clone(), part.created_at),
                ("A", first.author.clone(), first.created_at)
            );
            assert_eq!(part.external_id, format!("A description {}", place + 2));
            words += part.body.matches("word").count();
        }
        assert_eq!((words, rest.len()), (10_000, 4));
    }

    #[test]
    fn a_long_comment_goes_on_in_further_ones() {
        let (records, adjustments) = prepared(Record::Comment(comment(&"a".repeat(45_000))));
        let ids: Vec<_> = records
            .iter()
            .map(|record| match record {
                Record::Comment(comment) => (&*comment.external_id, comment.body.len() - "<p></p>".len()),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(ids, [("C", 20_000), ("C 2", 20_000), ("C 3", 5_000)]);
        assert_eq!(adjustments, [Adjustment::CommentContinued]);
        let Comment { external_id, request, author, created_at, origin, .. } = comment("");
        let body = "b\n".repeat(15_000);
        let note = Note { external_id, request, body, author, is_team: true, created_at, origin };
        let (records, adjustments) = prepared(Record::Note(note));
        assert_eq!((records.len(), adjustments), (2, vec![Adjustment::NoteContinued]));
    }

    #[test]
    fn pictures_of_the_source_stay_pictures_in_texts_but_not_in_notes() {
        let (one, other) = (AttachmentId::new(Uuid::from_u128(1)), AttachmentId::new(Uuid::from_u128(2)));
        let mut pictures = Pictures::default();
        pictures.add("a/1.png".to_owned(), one);
        let shown = |record: Record| {
            let prepared = prepare(record, &pictures).unwrap();
            match prepared.records.into_iter().next().unwrap().record {
                Record::FeatureRequest(FeatureRequest { description: body, .. })
                | Record::Comment(Comment { body, .. })
                | Record::Note(Note { body, .. }) => (CleanHtml::from_stored(body), prepared.adjustments),
                record => panic!("{record:?}"),
            }
        };
        let text = "![The shot](import-file:a/1.png) and import-file:a/1.png, import-file:b.png";
        let (html, adjustments) = shown(Record::FeatureRequest(request(text)));
        assert_eq!((html.pictures(), adjustments), (vec![one], vec![]));
        assert!(html.to_text().contains("and import-file:a/1.png, import-file:b.png"), "{html:?}");
        // One that is not there leaves its name.
        let (html, _) = shown(Record::Comment(comment("see ![The shot](import-file:b.png)")));
        assert_eq!((html.pictures(), html.to_text().trim()), (vec![], "see The shot"));
        let Comment { external_id, request: of, author, created_at, origin, .. } = comment("");
        let note = Note { external_id, request: of, body: text.to_owned(), author, is_team: true, created_at, origin };
        assert_eq!(shown(Record::Note(note)).0.pictures(), []);
        // A text of the source cannot show a picture of the workspace.
        let foreign = format!("![x]({})", picture::path(other));
        let (html, adjustments) = shown(Record::Comment(comment(&foreign)));
        assert_eq!((html.pictures(), html.to_text()), (vec![], foreign));
        assert_eq!(adjustments, [Adjustment::ShownAsText]);
    }

    #[test]
    fn a_long_changelog_goes_on_in_further_ones() {
        let changelog = Changelog {
            external_id: "E".to_owned(),
            title: "ä".repeat(200),
            body: "a".repeat(25_000),
            category: None,
            published_at: Some(now()),
            requests: vec!["A".to_owned(), "x".repeat(300)],
            origin: Origin { file: 0, line: 1 },
        };
        let (records, adjustments) = prepared(Record::Changelog(changelog.clone()));
        let [Record::Changelog(first), Record::Changelog(second)] = &*records else { panic!() };
        assert_eq!((&first.title, &first.requests[1]), (&changelog.title, &stored_id(&"x".repeat(300)).into_owned()));
        assert_eq!((second.title.chars().count(), second.title.ends_with("ä (2)")), (200, true));
        assert_eq!((&*second.external_id, second.requests.len(), second.published_at), ("E 2", 0, Some(now())));
        assert_eq!(adjustments, [Adjustment::ChangelogContinued]);
    }

    #[test]
    fn long_ids_are_stored_as_digests_wherever_they_are() {
        let long = "x".repeat(300);
        let long_id = stored_id(&long).into_owned();
        let merged = FeatureRequest { external_id: long.clone(), merged_into: Some(long.clone()), ..request("") };
        let (records, _) = prepared(Record::FeatureRequest(merged));
        let expected =
            FeatureRequest { external_id: long_id.clone(), merged_into: Some(long_id.clone()), ..request("") };
        assert_eq!(records, [Record::FeatureRequest(expected)]);
        let comment = Comment { external_id: long.clone(), request: long.clone(), ..comment("a") };
        let (records, _) = prepared(Record::Comment(comment.clone()));
        let body = "<p>a</p>".to_owned();
        let expected = Comment { external_id: long_id.clone(), request: long_id.clone(), body, ..comment.clone() };
        assert_eq!(records, [Record::Comment(expected)]);
        let person = Person { key: PersonKey::ExternalId("1".to_owned()), name: None };
        let vote =
            Vote { request: long, person, is_subscribed: None, created_at: None, origin: Origin { file: 0, line: 1 } };
        let (records, _) = prepared(Record::Vote(vote.clone()));
        assert_eq!(records, [Record::Vote(Vote { request: long_id, ..vote })]);
    }

    proptest! {
        #[test]
        fn a_split_text_is_whole(text in "[a-zäß \n]{0,200}", repeat in 1_usize..600) {
            let text = text.repeat(repeat);
            let parts = split(&text);
            prop_assert!(parts.iter().all(|part| part.chars().count() <= markdown::MAX));
            let joined = parts.concat();
            prop_assert!(text.starts_with(&joined) && text[joined.len()..].trim().is_empty());
        }
    }
}
