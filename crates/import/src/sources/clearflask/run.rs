//! A conversion: what it remembers, and what becomes of each row.

use roadmap_domain::model::email_address::EmailAddress;

use super::ClearflaskError;
use super::files::{Comments, Posts, Users};
use crate::records::{Action, Comment, FeatureRequest, Kind, Person, PersonKey, Record, VoteTotals};
use crate::sources::csv::values::{Tags, digest, for_each_item, line, optional, person_name};
use crate::sources::names::{People, User};
use crate::sources::quotes::{Quote, quoted_html};
use crate::sources::tables::{Column, Context, Converted, Output, Run, Shared};

/// Characters of the parts of a UUID.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];

/// A conversion.
pub(super) struct Clearflask<'a> {
    output: Output<'a>,
    people: People,
    categories: Shared,
}

impl<'a> Run<'a> for Clearflask<'a> {
    fn output(&mut self) -> &mut Output<'a> {
        &mut self.output
    }

    fn remembered(&self) -> usize {
        self.people.len()
    }
}

impl<'a> Clearflask<'a> {
    pub(super) fn new(output: Output<'a>) -> Self {
        Self { output, people: People::default(), categories: Shared::default() }
    }

    pub(super) fn finish(self) -> Result<VoteTotals, ClearflaskError> {
        self.output.finish()
    }

    /// Remembers a user.
    pub(super) fn convert_user(&mut self, context: &Context<'_>, columns: &Users) -> Converted {
        let Some(id) = optional(context.cell(columns.id)) else {
            let problem = "the id of the user is blank";
            return self.output.report(context.problem(None, columns.id, problem, Action::Skipped));
        };
        let email = context.cell(columns.email);
        let key = match EmailAddress::parse("the address", email) {
            Ok(address) => PersonKey::Email(address.as_str().to_owned()),
            Err(error) => {
                if !email.trim().is_empty() {
                    let problem = context.problem(Some(id), columns.email, error.to_string(), Action::Ignored);
                    self.output.report(problem)?;
                }
                PersonKey::ExternalId(id.to_owned())
            }
        };
        let person = Person { key, name: person_name(context.cell(columns.name)) };
        let is_team = self.output.read_flag(context, Some(id), columns.is_mod, false)?;
        if !self.people.add(id, &User { person: Some(person), is_team })? {
            let problem = "an earlier user has the same id";
            return self.output.report(context.problem(Some(id), columns.id, problem, Action::Skipped));
        }
        self.output.lose("ids of single sign-on", optional(context.cell(columns.sso_guid)).is_some().into());
        self.output.lose("balances", is_amount(context.cell(columns.balance)).into());
        Ok(())
    }

    /// Remembers which comments have replies.
    pub(super) fn learn_parent(&mut self, context: &Context<'_>, columns: &Comments) -> Converted {
        if let Some(parent) = optional(context.cell(columns.parent)) {
            self.output.quotes.add_parent(self.output.hash(parent));
        }
        Ok(())
    }

    /// Remembers what replies to a comment quote.
    pub(super) fn learn_quote(&mut self, context: &Context<'_>, columns: &Comments) -> Converted {
        let Some(comment) = optional(context.cell(columns.id)).map(|id| self.output.hash(id)) else { return Ok(()) };
        if self.output.quotes.is_parent(comment) {
            let text = quoted_html(context.cell(columns.content)).unwrap_or_default();
            let quote = Quote { text, is_private: false };
            self.output.quotes.add(comment, quote, self.output.options.max_records);
        }
        Ok(())
    }

    /// Remembers whether all posts have one category.
    pub(super) fn learn_post(&mut self, context: &Context<'_>, columns: &Posts) -> Converted {
        if line(context.cell(columns.title)).is_some() {
            self.categories.add(name_of(context.cell(columns.category)));
        }
        Ok(())
    }

    pub(super) fn convert_post(&mut self, context: &Context<'_>, columns: &Posts) -> Converted {
        let Some(title) = line(context.cell(columns.title)) else {
            let id = optional(context.cell(columns.id));
            let problem = context.problem(id, columns.title, "the title is blank", Action::Rejected);
            return self.output.reject(context, problem);
        };
        let id = Output::id_of(context, columns.id, &title, columns.created);
        if !self.output.add_request(context, columns.id, &id)? {
            return Ok(());
        }
        let text = context.cell(columns.description);
        let (title, description) = self.output.fit_title(context, &id, columns.title, &title, text)?;
        let (author, is_team) = self.read_author(context, &id, columns.author)?;
        let request = FeatureRequest {
            title,
            description,
            status: line(name_of(context.cell(columns.status))),
            tags: self.read_tags(context, columns, &id)?,
            is_private: false,
            awaits_approval: false,
            author,
            is_team,
            nameless_votes: self.output.read_nameless_votes(context, &id, columns.votes, 0, 0)?,
            created_at: self.output.read_time(context, Some(&id), columns.created)?,
            url: url(context, columns),
            merged_into: None,
            origin: context.origin(),
            external_id: id.to_string(),
        };
        self.output.write(Record::FeatureRequest(request))?;
        self.output.lose("funding", is_amount(context.cell(columns.funded)).into());
        self.output.lose("reactions", count_expressions(context.cell(columns.expressions)));
        self.convert_response(context, columns, &id)
    }

    /// Writes the response to a post as a comment of the team.
    fn convert_response(&mut self, context: &Context<'_>, columns: &Posts, request: &str) -> Converted {
        let body = context.cell(columns.response);
        if is_empty(body) {
            return Ok(());
        }
        // No id of ClearFlask has white space.
        let external_id = format!("{request} response");
        self.output.claim(Kind::Comments, &external_id);
        self.output.write(Record::Comment(Comment {
            external_id,
            request: request.to_owned(),
            body: body.to_owned(),
            author: None,
            is_team: true,
            is_held: false,
            created_at: None,
            origin: context.origin(),
        }))
    }

    pub(super) fn convert_comment(&mut self, context: &Context<'_>, columns: &Comments) -> Converted {
        let content = context.cell(columns.content);
        if is_empty(content) {
            self.output.skip(Kind::Comments, "comments that are deleted");
            return Ok(());
        }
        let id = optional(context.cell(columns.id)).map_or_else(
            || {
                let [post, author, time] =
                    [columns.post, columns.author, columns.created].map(|column| context.cell(column).trim());
                digest(&[post, author, time, content])
            },
            str::to_owned,
        );
        if !self.output.add_record(context, columns.id, &id)? {
            return Ok(());
        }
        let Some(request) = self.output.read_request(context, Some(&id), columns.post, Kind::Comments)? else {
            return Ok(());
        };
        let (author, is_team) = self.read_author(context, &id, columns.author)?;
        let comment = Comment {
            request: request.to_owned(),
            body: self.output.add_quote(context, &id, columns.parent, content, false)?,
            author,
            is_team,
            is_held: false,
            created_at: self.output.read_time(context, Some(&id), columns.created)?,
            origin: context.origin(),
            external_id: id,
        };
        self.output.write(Record::Comment(comment))?;
        self.output.lose("times of edits", optional(context.cell(columns.edited)).is_some().into());
        let votes = [columns.upvotes, columns.downvotes].map(|column| amount(context.cell(column)));
        self.output.lose("votes on comments", votes.into_iter().sum());
        Ok(())
    }

    /// Returns an author, and whether they belong to the team. Without a table of users, people are known by their ids.
    fn read_author(
        &mut self,
        context: &Context<'_>,
        id: &str,
        column: Column,
    ) -> Result<(Option<Person>, bool), ClearflaskError> {
        let Some(author) = optional(context.cell(column)) else { return Ok((None, false)) };
        if self.people.len() == 0 {
            return Ok((Some(Person { key: PersonKey::ExternalId(author.to_owned()), name: None }), false));
        }
        match self.people.find(author) {
            Some(user) => Ok((user.person, user.is_team)),
            None => {
                let problem = "there is no user with this id";
                self.output.report(context.problem(Some(id), column, problem, Action::Ignored))?;
                Ok((None, false))
            }
        }
    }

    fn read_tags(&mut self, context: &Context<'_>, columns: &Posts, id: &str) -> Result<Vec<String>, ClearflaskError> {
        let mut tags = Tags::default();
        for_each_item(context.cell(columns.tags), |tag| tags.add_one(name_of(tag)));
        let category = name_of(context.cell(columns.category));
        if !self.categories.is_of_all(category) {
            tags.add_one(category);
        }
        self.output.fit_tags(context, id, columns.tags, tags)
    }
}

/// Returns the name that the id of a status, a category or a tag begins with: what is before its last `-`, or before
/// the UUID at its end. Other ids are all the name there is.
fn name_of(id: &str) -> &str {
    let id = id.trim();
    let uuid = id.len().checked_sub(UUID.iter().sum::<usize>() + UUID.len() - 1);
    let (name, _) = match uuid.and_then(|start| id.split_at_checked(start)) {
        Some((name, end)) if is_uuid(end) => (name.trim_end_matches('-'), end),
        _ => id.rsplit_once('-').unwrap_or((id, "")),
    };
    if name.is_empty() { id } else { name }
}

fn is_uuid(text: &str) -> bool {
    let is_part = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.split('-').all(is_part) && text.split('-').map(str::len).eq(UUID)
}

/// Whether a text shows nothing: there are only elements without text, and no picture.
fn is_empty(html: &str) -> bool {
    let mut rest = html.trim_start();
    while let Some(tag) = rest.strip_prefix('<') {
        let name = tag.trim_start_matches('/');
        let Some((inside, after)) = tag.split_once('>') else { return false };
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || inside.starts_with("img") {
            return false;
        }
        rest = after.trim_start();
        while let Some(after) = rest.strip_prefix("&nbsp;") {
            rest = after.trim_start();
        }
    }
    rest.is_empty()
}

/// Whether a cell is an amount, and not none.
fn is_amount(cell: &str) -> bool {
    optional(cell).is_some_and(|amount| amount.parse::<f64>() != Ok(0.0))
}

fn amount(cell: &str) -> u64 {
    cell.trim().parse::<u32>().unwrap_or_default().into()
}

/// Returns how many people have reacted: `👍=2,❤️=1`.
fn count_expressions(cell: &str) -> u64 {
    let counts = cell.split(',').filter_map(optional).map(|reaction| match reaction.rsplit_once('=') {
        Some((_, count)) => amount(count),
        None => 1,
    });
    counts.sum()
}

/// Returns the path of a post, whose host is not known.
fn url(context: &Context<'_>, columns: &Posts) -> Option<String> {
    let id = optional(context.cell(columns.id))?;
    let is_plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    (is_plain && id.len() <= 200).then(|| format!("/post/{id}"))
}
