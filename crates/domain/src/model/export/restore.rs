//! Records of an export as they are stored again: checked, because anybody can write such a file, and with what is derived from
//! them.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::audit::{Actor, ActorKind};
use crate::model::board::Board;
use crate::model::changelog::ChangelogCategory;
use crate::model::email_address::EmailAddress;
use crate::model::event::{Event as StoredEvent, EventContent, NewEvent};
use crate::model::export::{
    Changelog, Comment, Customer, CustomerDetails, Event, FeatureRequest, Imported, Lane, Link, Member, MemberDetails,
    Note, Track, Workspace,
};
use crate::model::feature_request::{Tag, Title};
use crate::model::html::{CleanHtml, PictureElement};
use crate::model::id::{AttachmentId, FeatureRequestId, ImportId, parse_uuid};
use crate::model::import::ImportedNote;
use crate::model::import::records::PersonKey;
use crate::model::import::run::SourceName;
use crate::model::link::LinkDraft;
use crate::model::localized::Localized;
use crate::model::mail::{NO_MAILBOX, SenderName};
use crate::model::member::Role;
use crate::model::portal::{Color, EmbedOrigin, Language, MailDomain, Noun, PortalAccess, PortalSettings};
use crate::model::search::Synonyms;
use crate::model::setting::Setting;
use crate::model::team_mail::TeamMail;
use crate::model::text::{Name, validate_text};
use crate::model::time_zone::TimeZone;
use crate::model::timestamp::Timestamp;
use crate::model::track::{Lane as StoredLane, LaneKind, Track as StoredTrack};
use crate::policy::links::Links;
use crate::policy::portable_links::{self, LinkedFile};

/// The kinds of rows that are stored as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Whether members with the same addresses keep their access.
    Members {
        keeps_access: bool,
    },
    Customers,
    /// Without what they are merged into.
    FeatureRequests,
    Merges,
    Votes,
    Subscriptions,
    Comments,
    Links,
    Changelogs,
    Imported,
    /// When files were stored.
    FileTimes,
}

/// A row with what is derived from it, as one JSON object.
#[derive(Serialize)]
struct Row<'a, R, D> {
    #[serde(flatten)]
    record: &'a R,
    #[serde(flatten)]
    derived: D,
}

fn row<R: Serialize, D: Serialize>(record: &R, derived: D) -> Validated<String> {
    serde_json::to_string(&Row { record, derived }).map_err(|_| malformed("record", "a record that can be written"))
}

fn malformed(field: &str, expected: &'static str) -> FieldError {
    FieldError::new(field, FieldProblem::Malformed { expected })
}

/// Checks a text that is stored as it is.
fn check(field: &str, text: &str) -> Validated<()> {
    validate_text(field, text, usize::MAX)
}

/// What a member has besides the record.
#[derive(Serialize)]
struct OfMember<'a> {
    email_folded: &'a str,
    told_until: Timestamp,
}

/// What a customer has besides the record.
#[derive(Serialize)]
struct OfCustomer<'a> {
    email_folded: &'a str,
    name_folded: Option<String>,
}

/// What a feature request has besides the record.
#[derive(Serialize)]
struct OfRequest {
    description_text: String,
    /// Pairs of a tag and the text by which it is compared.
    folded_tags: Vec<(String, String)>,
}

/// What a link has besides the record.
#[derive(Serialize)]
struct OfLink {
    /// What is equal for all links to the same issue.
    issue: String,
}

/// What where a record came from has besides the record.
#[derive(Serialize)]
struct OfOrigin {
    import_id: ImportId,
}

/// A link of a merged feature request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MergeRow {
    pub id: FeatureRequestId,
    /// The same, by which the trees that are counted again are found.
    pub feature_request_id: FeatureRequestId,
    pub merged_into_id: FeatureRequestId,
    pub root_id: FeatureRequestId,
}

/// Returns the links of merged feature requests with the roots of their trees. `None`: they form a circle.
#[must_use]
pub fn merge_rows(links: &BTreeMap<FeatureRequestId, FeatureRequestId>) -> Option<Vec<MergeRow>> {
    let root = |of: FeatureRequestId| {
        let mut root = of;
        for _ in 0..=links.len() {
            match links.get(&root) {
                Some(target) => root = *target,
                None => return Some(root),
            }
        }
        None
    };
    let row = |(id, target): (&FeatureRequestId, &FeatureRequestId)| {
        Some(MergeRow { id: *id, feature_request_id: *id, merged_into_id: *target, root_id: root(*target)? })
    };
    links.iter().map(row).collect()
}

/// The settings of a workspace, as they are stored.
#[derive(Debug, Clone)]
pub struct Settings {
    pub setting: Setting,
    pub sender_name: Option<SenderName>,
    pub portal: PortalSettings,
    pub synonyms: Synonyms,
    pub last_tag_number: i64,
}

/// How records are stored again.
pub struct Restorer<'a> {
    pub links: &'a Links,
    /// The files of the export.
    pub files: &'a HashMap<AttachmentId, LinkedFile>,
    pub import: ImportId,
    /// When the run began.
    pub began_at: Timestamp,
    /// Whether members get the access that they had, instead of none.
    pub makes_members: bool,
    /// The name of the installations whose people have no address.
    pub source: SourceName,
}

impl Restorer<'_> {
    /// Returns clean HTML for a text, and whether it differs from what the export has.
    #[must_use]
    pub fn html(&self, text: &str) -> (CleanHtml, bool) {
        let local = portable_links::import(text, self.links, |id| self.files.get(&id).cloned());
        let kept = CleanHtml::from_stored(local.into_owned());
        if is_clean(&kept) {
            return (kept, false);
        }
        let cleaned = CleanHtml::parse_optional("text", kept.as_str(), usize::MAX);
        (cleaned.unwrap_or_else(|_| CleanHtml::of_text(kept.as_str())), true)
    }

    /// Returns those pictures of a text that the export has.
    #[must_use]
    pub fn pictures(&self, html: &str) -> Vec<AttachmentId> {
        let mut pictures = CleanHtml::from_stored(html.to_owned()).pictures();
        pictures.retain(|id| self.files.get(id).is_some_and(|file| file.is_picture));
        pictures.sort_unstable();
        pictures.dedup();
        pictures
    }

    /// Returns lanes and tracks. Their order is that of their positions.
    ///
    /// # Errors
    /// A name or kind is none, or a track is on an unknown lane.
    pub fn board(&self, mut lanes: Vec<Lane>, mut tracks: Vec<Track>) -> Validated<Board> {
        lanes.sort_by_key(|lane| lane.position);
        tracks.sort_by_key(|track| track.position);
        let lane = |lane: Lane| {
            let names = lane.names.iter().map(|(code, name)| (code.as_str(), Some(name.as_str())));
            Ok(StoredLane {
                id: lane.id,
                name: Name::parse("name", &lane.name)?,
                kind: LaneKind::parse("kind", &lane.kind)?,
                names: Localized::parse_names("names", names)?,
            })
        };
        let lanes = lanes.into_iter().map(lane).collect::<Validated<Vec<_>>>()?;
        let find = |id| lanes.iter().find(|lane| lane.id == id).cloned();
        let track = |track: Track| {
            let lane = track.lane_id.map(|id| find(id).ok_or_else(|| malformed("lane_id", "the id of a lane")));
            Ok(StoredTrack { id: track.id, name: Name::parse("name", &track.name)?, lane: lane.transpose()? })
        };
        let tracks = tracks.into_iter().map(track).collect::<Validated<Vec<_>>>()?;
        if tracks.is_empty() {
            return Err(malformed("tracks", "at least one track"));
        }
        Ok(Board::new(lanes, tracks))
    }

    fn no_mailbox(&self, id: impl ToString) -> Validated<EmailAddress> {
        self.source.address_of(&PersonKey::ExternalId(id.to_string()))
    }

    /// Returns the row of a member, without access unless [`Self::makes_members`].
    ///
    /// # Errors
    /// A field is none of a member.
    pub fn member(&self, mut member: Member) -> Validated<String> {
        let details = match member.details.take() {
            Some(details) => details,
            None => MemberDetails {
                email: self.no_mailbox(member.id)?.as_str().to_owned(),
                name: "Team".to_owned(),
                role: Role::Member.name().to_owned(),
                team_mail: TeamMail::Nothing.name().to_owned(),
                saved_views: Vec::new(),
                shortcuts: false,
                created_at: self.began_at,
                removed_at: Some(self.began_at),
            },
        };
        Name::parse("name", &details.name)?;
        Role::parse("role", &details.role)?;
        TeamMail::from_name(&details.team_mail).ok_or_else(|| malformed("team_mail", "a kind of mail"))?;
        for (name, query) in &details.saved_views {
            check("saved_views", name)?;
            check("saved_views", query)?;
        }
        let email = EmailAddress::parse("email", &details.email)?;
        let removed_at =
            if self.makes_members { details.removed_at } else { details.removed_at.or(Some(self.began_at)) };
        let member = Member { details: Some(MemberDetails { removed_at, ..details }), ..member };
        row(&member, OfMember { email_folded: email.folded().as_str(), told_until: self.began_at })
    }

    /// Returns the row of a customer. One without an address gets no mail.
    ///
    /// # Errors
    /// A field is none of a customer.
    pub fn customer(&self, mut customer: Customer) -> Validated<String> {
        let details = match customer.details.take() {
            Some(details) => details,
            None => CustomerDetails {
                email: self.no_mailbox(customer.id)?.as_str().to_owned(),
                name: None,
                language: None,
                last_language: None,
                mail_stopped_at: Some(self.began_at),
                mail_stopped_because: Some(NO_MAILBOX.to_owned()),
                stops_changelogs: true,
                news_since: None,
                blocked_at: None,
                created_at: self.began_at,
            },
        };
        let email = EmailAddress::parse("email", &details.email)?;
        let name = details.name.as_deref().map(|name| Name::parse("name", name)).transpose()?;
        for language in [&details.language, &details.last_language].into_iter().flatten() {
            Language::from_code(language).ok_or_else(|| malformed("language", "the code of a language"))?;
        }
        check("mail_stopped_because", details.mail_stopped_because.as_deref().unwrap_or_default())?;
        let customer = Customer { details: Some(details), ..customer };
        let name_folded = name.map(|name| name.as_str().to_lowercase());
        row(&customer, OfCustomer { email_folded: email.folded().as_str(), name_folded })
    }

    /// Returns the row of a feature request, whose description is clean.
    ///
    /// # Errors
    /// A field is none of a feature request.
    pub fn feature_request(&self, request: &FeatureRequest) -> Validated<String> {
        Title::parse("title", &request.title)?;
        if !(1..=i64::from(u32::MAX)).contains(&request.tag_number) {
            return Err(malformed("tag_number", "a number of a feature request"));
        }
        if request.nameless_votes < 0 {
            return Err(malformed("nameless_votes", "a number of votes"));
        }
        if request.awaiting_approval && !request.private {
            return Err(malformed("awaiting_approval", "false for a public feature request"));
        }
        let tags = Tag::parse_list("tags", &request.tags)?;
        let folded_tags = request.tags.iter().cloned().zip(tags.iter().map(Tag::folded)).collect();
        let description_text = CleanHtml::from_stored(request.description.clone()).to_text();
        row(request, OfRequest { description_text, folded_tags })
    }

    /// Returns the row of a comment, whose content is clean.
    ///
    /// # Errors
    /// It waits for approval without a customer, or has two authors.
    pub fn comment(&self, comment: &Comment) -> Validated<String> {
        match (comment.author_id, comment.customer_id, comment.held) {
            (None, Some(_), _) | (_, None, false) => row(comment, ()),
            _ => Err(malformed("author_id", "the only author, a customer if the comment is held")),
        }
    }

    /// Returns a note, whose body is clean.
    #[must_use]
    pub fn note(&self, note: Note) -> ImportedNote {
        ImportedNote {
            id: note.id,
            request: note.feature_request_id,
            customer: note.customer_id,
            author: note.author_id,
            body: CleanHtml::from_stored(note.body),
            at: note.created_at,
        }
    }

    /// Returns the row of a link.
    ///
    /// # Errors
    /// A field is none of a link.
    pub fn link(&self, link: &Link) -> Validated<String> {
        let draft = LinkDraft::parse(Some(&link.url), Some(link.title.as_deref()), Some(link.state.as_deref()))?;
        row(link, OfLink { issue: draft.url.issue().key() })
    }

    /// Returns an event.
    ///
    /// # Errors
    /// A field is none of an event.
    pub fn event(&self, event: Event) -> Validated<NewEvent> {
        check("actor_name", &event.actor_name)?;
        let content = EventContent::parse(&event.kind, &event.details.to_string())
            .ok_or_else(|| malformed("kind", "a kind of events with its details"))?;
        let kind =
            ActorKind::from_name(&event.actor_kind).ok_or_else(|| malformed("actor_kind", "a kind of actors"))?;
        let actor_id = event.actor_id.map(|id| parse_uuid("actor_id", &id)).transpose()?;
        let actor = Actor { kind, id: actor_id, name: event.actor_name };
        let event =
            (event.feature_request_id, StoredEvent { id: event.id, content, actor, created_at: event.created_at });
        Ok(NewEvent { request: event.0, event: event.1 })
    }

    /// Returns the row of a changelog, whose content is clean. A cover that the export does not have is left out.
    ///
    /// # Errors
    /// A field is none of a changelog.
    pub fn changelog(&self, changelog: &mut Changelog) -> Validated<String> {
        Title::parse("title", &changelog.title)?;
        if let Some(category) = &changelog.category {
            ChangelogCategory::from_name(category).ok_or_else(|| malformed("category", "a category of changelogs"))?;
        }
        changelog.cover_attachment_id = changelog.cover_attachment_id.filter(|cover| self.files.contains_key(cover));
        row(changelog, ())
    }

    /// Returns the row of where a record came from.
    ///
    /// # Errors
    /// A field is none of it.
    pub fn imported(&self, imported: &Imported) -> Validated<String> {
        SourceName::parse("name", &imported.name)?;
        for (field, text) in
            [("kind", &imported.kind), ("external_id", &imported.external_id), ("digest", &imported.digest)]
        {
            check(field, text)?;
        }
        parse_uuid("local_id", &imported.local_id)?;
        row(imported, OfOrigin { import_id: self.import })
    }

    /// Returns the settings.
    ///
    /// # Errors
    /// A setting has no valid value.
    pub fn settings(&self, workspace: Workspace) -> Validated<Settings> {
        let accent = workspace.accent.map(|accent| {
            Color::from_hex(&accent).ok_or_else(|| malformed("accent_color", "a colour such as #0a7d33"))
        });
        let languages = workspace.languages.iter().map(|code| Language::from_code(code));
        let languages: Vec<Language> =
            languages.collect::<Option<_>>().ok_or_else(|| malformed("languages", "codes of languages"))?;
        if languages.is_empty() {
            return Err(malformed("languages", "at least one language"));
        }
        let localized = |field: &str, max, texts: &BTreeMap<String, String>| {
            Localized::parse(field, max, texts.iter().map(|(code, text)| (code.as_str(), Some(text.as_str()))))
        };
        let portal = PortalSettings {
            access: PortalAccess::from_name(&workspace.access)
                .ok_or_else(|| malformed("visibility", "public, private or off"))?,
            mail_domains: parse_all(&workspace.mail_domains, |raw| MailDomain::parse("mail_domains", raw))?,
            is_indexed: workspace.is_indexed,
            embed_origins: parse_all(&workspace.embed_origins, |raw| EmbedOrigin::parse("embed_origins", raw))?,
            languages,
            holds_posts: workspace.holds_posts,
            accent: accent.transpose()?,
            logo: workspace.logo_attachment_id.filter(|logo| self.files.contains_key(logo)),
            reply_to: workspace.reply_to.map(|raw| EmailAddress::parse("reply_to", &raw)).transpose()?,
            time_zone: TimeZone::parse("time_zone", &workspace.time_zone)?,
            welcome_text: localized("welcome_text", PortalSettings::MAX_WELCOME, &workspace.welcome_text)?,
            form_question: localized("form_question", PortalSettings::MAX_QUESTION, &workspace.form_question)?,
            noun: Noun::from_name(&workspace.noun).ok_or_else(|| malformed("noun", "a noun"))?,
        };
        Ok(Settings {
            setting: Setting::parse(&workspace.product_name, &workspace.website_url)?,
            sender_name: SenderName::parse("sender_name", workspace.sender_name.as_deref().unwrap_or_default())?,
            portal,
            synonyms: Synonyms::parse(&workspace.synonyms)?,
            last_tag_number: workspace.last_tag_number,
        })
    }
}

fn parse_all<T>(texts: &[String], parse: impl Fn(&str) -> Validated<T>) -> Validated<Vec<T>> {
    texts.iter().map(|text| parse(text)).collect()
}

/// Whether cleaning would change nothing of a text but the sizes of its pictures, which it takes away.
fn is_clean(html: &CleanHtml) -> bool {
    let text = html.as_str();
    if html.map_pictures(|element| element.to_string()) != text {
        return false;
    }
    let unsized_pictures = html.map_pictures(|element| PictureElement { dimensions: None, ..element }.to_string());
    // Without an element there is nothing to clean.
    !text.contains(['\0', '<'])
        || CleanHtml::parse_optional("text", &unsized_pictures, usize::MAX)
            .is_ok_and(|cleaned| cleaned.as_str() == unsized_pictures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attachment::Filename;
    use crate::usecase::fixtures::{links, now};
    use uuid::Uuid;

    fn restorer<'a>(links: &'a Links, files: &'a HashMap<AttachmentId, LinkedFile>) -> Restorer<'a> {
        Restorer {
            links,
            files,
            import: ImportId::new(Uuid::from_u128(1)),
            began_at: now(),
            makes_members: false,
            source: SourceName::parse("name", "roadmap").unwrap(),
        }
    }

    #[test]
    fn clean_texts_are_kept_and_others_cleaned() {
        let (links, id) = (links(), AttachmentId::new(Uuid::from_u128(7)));
        let files = HashMap::from([(id, LinkedFile { filename: Filename::sanitize("a.png"), is_picture: true })]);
        let restorer = restorer(&links, &files);
        for text in [
            "",
            "a &amp; b\nc",
            "<p>a<br>b</p>",
            &format!("<p>x</p><img src=\"attachment:{id}\" alt=\"a &gt; b\" width=\"3\" height=\"4\">"),
            "<a href=\"https://a.example\" rel=\"nofollow noopener\">a</a>",
        ] {
            let (html, is_changed) = restorer.html(text);
            assert!(!is_changed, "{text}");
            assert_eq!(portable_links::export(html.as_str(), &links), text);
        }
        for (text, expected) in [
            ("<p onclick=\"x()\">a</p>", "<p>a</p>"),
            ("<p>a</p><script>x()</script>", "<p>a</p>"),
            ("<p>a</p><img src=\"https://evil.example/x.png\" alt=\"b\">", "<p>a</p>"),
        ] {
            let (html, is_changed) = restorer.html(text);
            assert!(is_changed && html.as_str().starts_with(expected) && !html.as_str().contains("<img"), "{html:?}");
        }
        let (html, _) = restorer.html(&format!("<img src=\"attachment:{id}\" alt=\"\">"));
        assert_eq!(restorer.pictures(html.as_str()), [id]);
    }

    #[test]
    fn the_root_of_a_tree_is_found_and_a_circle_has_none() {
        let id = |number| FeatureRequestId::new(Uuid::from_u128(number));
        let rows = merge_rows(&BTreeMap::from([(id(1), id(2)), (id(2), id(3)), (id(4), id(3))])).unwrap();
        let roots: Vec<_> = rows.iter().map(|row| (row.id, row.merged_into_id, row.root_id)).collect();
        assert_eq!(roots, [(id(1), id(2), id(3)), (id(2), id(3), id(3)), (id(4), id(3), id(3))]);
        assert_eq!(merge_rows(&BTreeMap::from([(id(1), id(2)), (id(2), id(1))])), None);
        assert_eq!(merge_rows(&BTreeMap::new()), Some(Vec::new()));
    }

    #[test]
    fn people_without_an_address_get_one_without_a_mailbox() {
        let (links, files) = (links(), HashMap::new());
        let restorer = restorer(&links, &files);
        let id = crate::model::id::CustomerId::new(Uuid::from_u128(5));
        let row: serde_json::Value =
            serde_json::from_str(&restorer.customer(Customer { id, details: None }).unwrap()).unwrap();
        assert_eq!(row["email"], "00000000-0000-0000-0000-000000000005@roadmap.invalid");
        assert_eq!((&row["mail_stopped_because"], &row["name"]), (&NO_MAILBOX.into(), &serde_json::Value::Null));
        let id = crate::model::id::MemberId::new(Uuid::from_u128(6));
        let row: serde_json::Value =
            serde_json::from_str(&restorer.member(Member { id, details: None }).unwrap()).unwrap();
        assert_eq!((&row["name"], &row["removed_at"]), (&"Team".into(), &now().to_string().into()));
    }
}
