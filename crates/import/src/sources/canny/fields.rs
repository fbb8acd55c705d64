//! What the fields of a record mean.

use std::borrow::Cow;

use roadmap_domain::model::changelog::{ChangelogCategory, MAX_LINKED};
use roadmap_domain::model::timestamp::Timestamp;

use super::CannyError;
use super::file::{Context, RecordKind, id_of, trimmed};
use super::people::{self, Found};
use super::remembered::Board;
use super::run::{NAMES_WITHOUT_ADDRESS, Run};
use super::texts::{score, with_pictures};
use crate::dates::{DateProblem, When};
use crate::json::{Object, Value};
use crate::records::{Action, Kind};
use crate::sources::csv::values::{Tags, digest, flag, line, nameless_votes};

/// Longest address of a feature request in its source, in characters.
const MAX_URL: usize = 2_000;

impl Run<'_> {
    /// Returns when a changelog was published. `None` if it is a draft, or to be published later.
    pub(super) fn read_publication(
        &mut self,
        context: &Context<'_>,
        id: &str,
    ) -> Result<Option<Timestamp>, CannyError> {
        let status = context.text("status");
        if status.as_ref().is_some_and(|status| !status.eq_ignore_ascii_case("published")) {
            self.lose("times of scheduled changelogs", u64::from(context.text("scheduledFor").is_some()));
            return Ok(None);
        }
        let published_at = self.read_time(context, Some(id), "publishedAt")?;
        if status.is_none() || published_at.is_some() {
            return Ok(published_at);
        }
        Ok(self.read_time(context, Some(id), "created")?.or(Some(self.options.dates.now)))
    }

    pub(super) fn read_links(&mut self, context: &Context<'_>, id: &str) -> Result<Vec<String>, CannyError> {
        let mut requests: Vec<String> = Vec::new();
        let mut left_out = 0_u64;
        for post in context.get("posts").array().into_iter().flatten() {
            let request = post.object().map_or_else(|| trimmed(post), |post| trimmed(post.get("id")));
            let Some(request) = request.filter(|request| !requests.iter().any(|other| other == request)) else {
                continue;
            };
            if requests.len() < MAX_LINKED {
                requests.push(request.into_owned());
            } else {
                left_out += 1;
            }
        }
        if left_out > 0 {
            let problem =
                format!("a changelog links to at most {MAX_LINKED} feature requests: {left_out} are left out");
            self.report(context.problem(Some(id), problem, Action::Ignored))?;
        }
        Ok(requests)
    }

    /// Returns the id of the feature request to which a record belongs. `None` if there is none, which is listed.
    pub(super) fn read_request<'b>(
        &mut self,
        context: &Context<'b>,
        id: Option<&str>,
    ) -> Result<Option<Cow<'b, str>>, CannyError> {
        let request = request_of(context.object);
        let problem = match &request {
            Some(request) if self.is_written(request) || (self.options.is_known)(request) => {
                return Ok(Some(request.clone()));
            }
            Some(_) => "there is no feature request with this id",
            None => "the id of the feature request is blank",
        };
        let (kind, why) = match context.kind {
            RecordKind::Vote => (Kind::Votes, "votes for unknown feature requests"),
            RecordKind::StatusChange => (Kind::Moves, "status changes of unknown feature requests"),
            _ => (Kind::Comments, "comments on unknown feature requests"),
        };
        self.skip(kind, why);
        let value = request.as_deref().unwrap_or_default();
        self.report(context.problem(id, problem, Action::Skipped).of_value("post", value))?;
        Ok(None)
    }

    pub(super) fn is_written(&self, request: &str) -> bool {
        self.remembered.requests.get(&self.remembered.hash(request)) == Some(&true)
    }

    /// Returns what is known of the board of a record.
    pub(super) fn board_of(&self, object: &Object<'_>) -> Board {
        let listed =
            id_of(object, "board", "boardID").and_then(|id| self.remembered.boards.get(&self.remembered.hash(&*id)));
        let own = object.get("board").object().unwrap_or_default();
        let is_set = |key| is_set(own.get(key));
        let listed = listed.copied().unwrap_or_default();
        Board {
            is_private: listed.is_private || is_set("isPrivate"),
            has_private_comments: listed.has_private_comments || is_set("privateComments"),
        }
    }

    pub(super) fn is_private_comment(&self, object: &Object<'_>) -> bool {
        is_set(object.get("internal")) || is_set(object.get("private")) || self.board_of(object).has_private_comments
    }

    /// Returns whether the board of a feature request is private. That nobody says so is listed once for each board.
    pub(super) fn read_privacy(&mut self, context: &Context<'_>, id: &str) -> Result<bool, CannyError> {
        let board = self.board_of(context.object);
        let own = context.get("board").object().unwrap_or_default();
        let Some(board_id) = id_of(context.object, "board", "boardID").map(|id| self.remembered.hash(&*id)) else {
            return Ok(board.is_private);
        };
        let is_known = self.remembered.boards.contains_key(&board_id) || !own.get("isPrivate").is_null();
        if !is_known && self.remembered.unknown_boards.insert(board_id) {
            let problem = "no file says whether this board is private, so its feature requests are public: \
                           import the list of boards together with them";
            let name = name_of(context.get("board")).unwrap_or_default();
            self.report(context.problem(Some(id), problem, Action::Ignored).of_value("board", &name))?;
        }
        Ok(board.is_private)
    }

    /// Returns how many votes of a feature request have no usable person.
    pub(super) fn read_nameless_votes(&mut self, context: &Context<'_>, id: &str) -> Result<u32, CannyError> {
        let score = score(context.get("score"));
        match score {
            None => {
                self.report(context.problem_of(Some(id), "score", "the count is no whole number", Action::Ignored))?;
            }
            Some(..0) => {
                self.report(context.problem_of(Some(id), "score", "the count is below 0: it is 0", Action::Changed))?;
            }
            Some(_) => {}
        }
        let listed = self.remembered.listed.get(&self.remembered.hash(id)).copied().unwrap_or_default();
        Ok(nameless_votes(score.unwrap_or_default(), u64::from(listed.entries), u64::from(listed.unusable)))
    }

    pub(super) fn read_tags(&mut self, context: &Context<'_>, id: &str) -> Result<Vec<String>, CannyError> {
        let mut tags = Tags::default();
        let given = context.get("tags");
        match given.array() {
            Some(given) => given.filter_map(name_of).for_each(|tag| tags.add_one(&tag)),
            None if given.is_null() => {}
            None => {
                self.report(context.problem_of(Some(id), "tags", "the value is no list of tags", Action::Ignored))?
            }
        }
        for category in [context.get("category"), context.get("board")].into_iter().filter_map(name_of) {
            if self.shared_category.as_ref() != Some(&category) {
                tags.add_one(&category);
            }
        }
        for tag in &tags.too_long {
            let problem = "tags have at most 50 characters";
            self.report(context.problem(Some(id), problem, Action::Ignored).of_value("tags", tag))?;
        }
        if tags.rest > 0 {
            let problem = format!("a feature request has at most 20 tags: {} are left out", tags.rest);
            let problem = context.problem(Some(id), problem, Action::Ignored);
            self.report(problem.of_value("tags", &tags.too_many.join("|")))?;
        }
        Ok(tags.kept)
    }

    /// Returns a text with links to the pictures of the record.
    pub(super) fn read_text_with_pictures(
        &mut self,
        context: &Context<'_>,
        id: Option<&str>,
        field: &'static str,
    ) -> Result<String, CannyError> {
        let value = context.get(field);
        let text = value.text();
        if text.is_none() && !value.is_null() {
            self.report(context.problem_of(id, field, "the value is no text", Action::Ignored))?;
        }
        let (text, has_bad_pictures) = with_pictures(&text.unwrap_or_default(), context.get("imageURLs"));
        if has_bad_pictures {
            let problem = "a picture has no address of the web";
            self.report(context.problem_of(id, "imageURLs", problem, Action::Ignored))?;
        }
        Ok(text)
    }

    /// Returns a flag. What says neither yes nor no keeps the record from being public.
    pub(super) fn read_flag(
        &mut self,
        context: &Context<'_>,
        id: Option<&str>,
        field: &'static str,
    ) -> Result<bool, CannyError> {
        let value = context.get(field);
        if !value.is_null() && value.text().and_then(|text| flag(&text)).is_none() {
            let problem = "the value is neither yes nor no: it counts as yes";
            self.report(context.problem_of(id, field, problem, Action::Changed))?;
        }
        Ok(is_set(value))
    }

    /// Returns a person who is no voter.
    pub(super) fn read_person(
        &mut self,
        context: &Context<'_>,
        id: Option<&str>,
        field: &'static str,
        id_field: &str,
    ) -> Result<Found, CannyError> {
        let found = people::find(context.object, field, id_field);
        if let Some((email, error)) = &found.bad_address {
            self.report(context.problem(id, error.to_string(), Action::Ignored).of_value(field, email))?;
        }
        if found.is_malformed {
            self.report(context.problem_of(id, field, "the value is no person", Action::Ignored))?;
        }
        if found.is_only_name {
            self.lose(NAMES_WITHOUT_ADDRESS, 1);
        }
        Ok(found)
    }

    pub(super) fn read_time(
        &mut self,
        context: &Context<'_>,
        id: Option<&str>,
        field: &'static str,
    ) -> Result<Option<Timestamp>, CannyError> {
        let value = context.get(field);
        let when = match value.text() {
            Some(text) => self.options.dates.read(&text),
            None if value.is_null() => When::Missing,
            None => When::Unusable(DateProblem::Unreadable),
        };
        match when {
            When::Missing => Ok(None),
            When::At(time) => Ok(Some(time)),
            When::Unusable(problem) => {
                self.report(context.problem_of(id, field, problem.to_string(), Action::Changed))?;
                Ok(None)
            }
        }
    }

    pub(super) fn read_url(&mut self, context: &Context<'_>, id: &str) -> Result<Option<String>, CannyError> {
        let url = context.text("url");
        if url.as_ref().is_some_and(|url| url.chars().nth(MAX_URL).is_some() || url.contains(char::is_control)) {
            let problem = "the address is too long or has control characters";
            self.report(context.problem_of(Some(id), "url", problem, Action::Ignored))?;
            return Ok(None);
        }
        // The address is that of the admin panel. Visitors know that of the portal.
        Ok(url.map(|url| url.replacen("/admin/board/", "/", 1)))
    }
}

/// Returns the first type of a changelog that is a category here.
pub(super) fn category_of(types: Value<'_>) -> Option<String> {
    let mut names = types.array()?.filter_map(Value::text);
    names.find(|name| ChangelogCategory::from_name(name).is_some()).map(Cow::into_owned)
}

/// Returns the id of a record, or a digest of what identifies it without one.
pub(super) fn id_or_digest<'a>(context: &Context<'a>, title: &str) -> Cow<'a, str> {
    context.text("id").unwrap_or_else(|| Cow::Owned(digest(&[title, &context.text("created").unwrap_or_default()])))
}

/// Returns the id of the feature request to which a record belongs.
pub(super) fn request_of<'a>(object: &Object<'a>) -> Option<Cow<'a, str>> {
    id_of(object, "post", "postID")
}

/// Returns the comment of a status change with links to its pictures, and whether some cannot be linked to.
pub(super) fn change_comment(object: &Object<'_>) -> (String, bool) {
    let comment = object.get("changeComment");
    match comment.object() {
        Some(comment) => with_pictures(&comment.get("value").text().unwrap_or_default(), comment.get("imageURLs")),
        None => (comment.text().unwrap_or_default().into_owned(), false),
    }
}

/// Returns a name: a text, or that of an object.
pub(super) fn name_of(value: Value<'_>) -> Option<String> {
    let text = value.object().map_or_else(|| value.text(), |object| object.get("name").text());
    text.and_then(|text| line(&text))
}

/// Whether a flag says yes, or neither yes nor no.
fn is_set(value: Value<'_>) -> bool {
    !value.is_null() && value.text().and_then(|text| flag(&text)) != Some(false)
}
