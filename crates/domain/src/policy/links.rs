//! The URLs of a workspace's pages and files. All absolute URLs that the service writes are built here.

use std::borrow::Cow;
use std::sync::Arc;

use crate::model::attachment::Filename;
use crate::model::base_url::BaseUrl;
use crate::model::html::CleanHtml;
use crate::model::id::{
    AttachmentId, CustomerId, FeatureRequestId, LinkSourceId, MemberId, SignInId, WebhookId, WorkspaceId, parse_uuid,
};
use crate::model::mail::Unsubscription;
use crate::model::timestamp::Timestamp;
use crate::model::workspace::Subdomain;
use crate::policy::signed_reference::{Purpose, ReferenceSigner};

/// The query parameter of an unsubscribe link that names the feature request of the mail.
const UNSUBSCRIBE_REQUEST: &str = "request";
/// The query parameter of an unsubscribe link that names a kind of mail, and its value for changelogs.
const UNSUBSCRIBE_KIND: &str = "kind";
const CHANGELOGS: &str = "changelogs";
/// The value of the kind for changelogs that somebody asked for.
const NEWS: &str = "news";
/// The value of the kind for the mail to a member of the team.
const TEAM: &str = "team";

/// Whether an unsubscribe link is that of a mail to a member, by the parameters of its query. Its reference has the purpose
/// [`Purpose::TeamMail`].
pub fn is_team_link<'a>(parameter: impl Fn(&str) -> Option<&'a str>) -> bool {
    parameter(UNSUBSCRIBE_KIND) == Some(TEAM)
}

/// Returns what an unsubscribe link stops, by the parameters of its query. They need no signature, because they affect only
/// the mail of the link's own customer. With missing or unknown ones, a link stops all mail.
pub fn unsubscription<'a>(parameter: impl Fn(&str) -> Option<&'a str>) -> Unsubscription {
    let request = parameter(UNSUBSCRIBE_REQUEST).and_then(|raw| parse_uuid(UNSUBSCRIBE_REQUEST, raw).ok());
    match request {
        Some(request) => Unsubscription::Request(FeatureRequestId::new(request)),
        None => match parameter(UNSUBSCRIBE_KIND) {
            Some(CHANGELOGS) => Unsubscription::Changelogs,
            Some(NEWS) => Unsubscription::News,
            _ => Unsubscription::Everything,
        },
    }
}

/// Builds URLs from the configured base URL and the stored subdomain, never from client input.
#[derive(Debug, Clone)]
pub struct Links {
    base: String,
    workspace: WorkspaceId,
    subdomain: Subdomain,
    references: Arc<ReferenceSigner>,
}

impl Links {
    /// Creates the links of the workspace with this subdomain.
    #[must_use]
    pub fn new(
        base_url: &BaseUrl,
        subdomain: &Subdomain,
        workspace: WorkspaceId,
        references: Arc<ReferenceSigner>,
    ) -> Self {
        Self { base: base_url.workspace_url(subdomain), workspace, subdomain: subdomain.clone(), references }
    }

    /// Returns the workspace.
    #[must_use]
    pub fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    /// Returns the subdomain of the workspace.
    #[must_use]
    pub fn subdomain(&self) -> &Subdomain {
        &self.subdomain
    }

    /// Returns what signs references.
    #[must_use]
    pub fn references(&self) -> &Arc<ReferenceSigner> {
        &self.references
    }

    /// Returns the URL of the portal, without a trailing slash. It is also the origin of its pages.
    #[must_use]
    pub fn portal(&self) -> &str {
        &self.base
    }

    /// Returns the URL of a page of the portal by its path.
    #[must_use]
    pub fn page(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Returns the URL to which a tracker sends its webhooks.
    #[must_use]
    pub fn hook(&self, source: LinkSourceId) -> String {
        self.page(&format!("/hooks/{source}"))
    }

    /// Returns the link that signs somebody in until `until`.
    #[must_use]
    pub fn sign_in(&self, sign_in: SignInId, until: Timestamp) -> String {
        let token = self.references.sign_with_expiry(Purpose::SignIn, self.workspace, sign_in.uuid(), until);
        format!("{}/sign-in/{token}", self.base)
    }

    /// Returns the code that stands for such a link.
    #[must_use]
    pub fn sign_in_code(&self, sign_in: SignInId) -> String {
        self.references.sign_in_code(self.workspace, sign_in.uuid())
    }

    /// Returns the URL of a feature request on the public roadmap.
    #[must_use]
    pub fn request(&self, slug: &str) -> String {
        format!("{}/feature_requests/{slug}", self.base)
    }

    /// Returns the URL of a feature request in the admin panel.
    #[must_use]
    pub fn admin_request(&self, slug: &str) -> String {
        format!("{}/admin/feature_requests/{slug}", self.base)
    }

    /// Returns the public URL of a changelog.
    #[must_use]
    pub fn changelog(&self, id: &str) -> String {
        format!("{}/changelogs/{id}", self.base)
    }

    /// Returns the URL of a changelog in the admin panel.
    #[must_use]
    pub fn admin_changelog(&self, id: &str) -> String {
        format!("{}/admin/changelogs/{id}", self.base)
    }

    /// Returns the URL of a webhook in the admin panel.
    #[must_use]
    pub fn admin_webhook(&self, webhook: WebhookId) -> String {
        format!("{}/admin/webhooks/{webhook}", self.base)
    }

    /// Returns the URL of a file, which does not expire.
    #[must_use]
    pub fn blob(&self, file: AttachmentId, filename: &Filename) -> String {
        format!("{}/blobs/{}/{}", self.base, self.signed_id(file), filename.percent_encoded())
    }

    /// Returns the file that a `signed_id` or a [`Self::blob`] URL refers to.
    #[must_use]
    pub fn file_of_reference(&self, reference: &str) -> Option<AttachmentId> {
        self.references.verify_despite_expiry(Purpose::Blob, self.workspace, reference).map(AttachmentId::new)
    }

    /// Returns sanitized HTML whose pictures have absolute URLs, for mails, feeds and programs.
    #[must_use]
    pub fn with_pictures<'a>(&self, html: &'a str) -> Cow<'a, str> {
        CleanHtml::with_absolute_pictures(html, &self.base)
    }

    /// Returns the URL of a file's bytes, which expires at `until`.
    #[must_use]
    pub fn file(&self, file: AttachmentId, filename: &Filename, until: Timestamp) -> String {
        let token = self.references.sign_with_expiry(Purpose::File, self.workspace, file.uuid(), until);
        format!("{}/files/{token}/{}", self.base, filename.percent_encoded())
    }

    /// Returns the URL that stops mail to a customer. [`unsubscription`] reads its query.
    #[must_use]
    pub fn unsubscribe(&self, customer: CustomerId, what: Unsubscription) -> String {
        let token = self.references.sign(Purpose::Unsubscribe, self.workspace, customer.uuid());
        let query = match what {
            Unsubscription::Request(request) => format!("?{UNSUBSCRIBE_REQUEST}={request}"),
            Unsubscription::Changelogs => format!("?{UNSUBSCRIBE_KIND}={CHANGELOGS}"),
            Unsubscription::News => format!("?{UNSUBSCRIBE_KIND}={NEWS}"),
            Unsubscription::Everything => String::new(),
        };
        format!("{}/unsubscribe/{token}{query}", self.base)
    }

    /// Returns the URL that stops mail to a member about what customers write. [`is_team_link`] reads its query.
    #[must_use]
    pub fn stop_team_mail(&self, member: MemberId) -> String {
        let token = self.references.sign(Purpose::TeamMail, self.workspace, member.uuid());
        format!("{}/unsubscribe/{token}?{UNSUBSCRIBE_KIND}={TEAM}", self.base)
    }

    /// Returns the path of the page where a customer chooses the mail without signing in, valid until a time.
    #[must_use]
    pub fn mail_settings(&self, customer: CustomerId, until: Timestamp) -> String {
        let reference = self.references.sign_with_expiry(Purpose::MailSettings, self.workspace, customer.uuid(), until);
        format!("/mail/{reference}")
    }

    /// Returns the signed reference by which the workspace uses a file.
    #[must_use]
    pub fn signed_id(&self, file: AttachmentId) -> String {
        self.references.sign(Purpose::Blob, self.workspace, file.uuid())
    }

    /// Returns the signed reference of a file that is attached to rich text.
    #[must_use]
    pub fn attachable_id(&self, file: AttachmentId) -> String {
        self.references.sign(Purpose::Attachable, self.workspace, file.uuid())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::signed_reference::Secret;
    use crate::usecase::fixtures::{now, workspace};
    use time::Duration;
    use uuid::Uuid;

    const BASE: &str = "https://acme.roadmap.example.com:8443";

    fn references() -> ReferenceSigner {
        ReferenceSigner::new(Secret::parse("secret", &"s".repeat(Secret::MIN_LENGTH)).unwrap(), Vec::new())
    }

    fn links() -> Links {
        let base_url = BaseUrl::parse("base_url", "https://roadmap.example.com:8443").unwrap();
        Links::new(&base_url, &Subdomain::from_label("acme").unwrap(), workspace(), Arc::new(references()))
    }

    #[test]
    fn pages_are_below_the_workspace_s_host() {
        for (link, path) in [
            (links().request("7-dark-mode"), "/feature_requests/7-dark-mode"),
            (links().admin_request("7-dark-mode"), "/admin/feature_requests/7-dark-mode"),
            (links().changelog("id"), "/changelogs/id"),
            (links().admin_changelog("id"), "/admin/changelogs/id"),
            (
                links().admin_webhook(WebhookId::new(Uuid::from_u128(7))),
                "/admin/webhooks/00000000-0000-0000-0000-000000000007",
            ),
        ] {
            assert_eq!(link, format!("{BASE}{path}"));
        }
    }

    #[test]
    fn each_signed_link_is_valid_for_its_purpose() {
        let (file, filename) = (AttachmentId::new(Uuid::from_u128(2)), Filename::sanitize("Übersicht 1.png"));
        let (voter, request) = (CustomerId::new(Uuid::from_u128(3)), FeatureRequestId::new(Uuid::from_u128(4)));
        let until = now().plus(Duration::MINUTE);
        for (link, before, after, purpose, record) in [
            (links().blob(file, &filename), "/blobs/", "/%C3%9Cbersicht%201.png", Purpose::Blob, file.uuid()),
            (links().file(file, &filename, until), "/files/", "/%C3%9Cbersicht%201.png", Purpose::File, file.uuid()),
            (
                links().unsubscribe(voter, Unsubscription::Everything),
                "/unsubscribe/",
                "",
                Purpose::Unsubscribe,
                voter.uuid(),
            ),
            (
                links().unsubscribe(voter, Unsubscription::Changelogs),
                "/unsubscribe/",
                "?kind=changelogs",
                Purpose::Unsubscribe,
                voter.uuid(),
            ),
            (
                links().stop_team_mail(MemberId::new(voter.uuid())),
                "/unsubscribe/",
                "?kind=team",
                Purpose::TeamMail,
                voter.uuid(),
            ),
            (
                format!("{BASE}{}", links().mail_settings(voter, until)),
                "/mail/",
                "",
                Purpose::MailSettings,
                voter.uuid(),
            ),
            (
                links().unsubscribe(voter, Unsubscription::Request(request)),
                "/unsubscribe/",
                "?request=00000000-0000-0000-0000-000000000004",
                Purpose::Unsubscribe,
                voter.uuid(),
            ),
        ] {
            let reference = link.strip_prefix(BASE).and_then(|link| link.strip_prefix(before));
            let reference = reference.and_then(|link| link.strip_suffix(after)).unwrap_or_else(|| panic!("{link}"));
            assert_eq!(references().verify(purpose, workspace(), reference, now()), Some(record), "{link}");
            let later = references().verify(purpose, workspace(), reference, until.plus(Duration::MILLISECOND));
            assert_eq!(later.is_none(), matches!(purpose, Purpose::File | Purpose::MailSettings), "{link}");
        }
    }

    #[test]
    fn a_link_without_a_known_kind_stops_all_mail() {
        let request = FeatureRequestId::new(Uuid::from_u128(4));
        for (parameters, expected) in [
            (vec![("request", request.to_string())], Unsubscription::Request(request)),
            (
                vec![("request", request.to_string()), ("kind", "changelogs".to_owned())],
                Unsubscription::Request(request),
            ),
            (vec![("kind", "changelogs".to_owned())], Unsubscription::Changelogs),
            (vec![("request", "x".to_owned()), ("kind", "changelogs".to_owned())], Unsubscription::Changelogs),
            (vec![("request", "x".to_owned())], Unsubscription::Everything),
            (vec![("kind", "news".to_owned())], Unsubscription::News),
            (vec![("kind", "news of tomorrow".to_owned())], Unsubscription::Everything),
            (Vec::new(), Unsubscription::Everything),
        ] {
            let parameter =
                |name: &str| parameters.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_str());
            assert_eq!(unsubscription(parameter), expected, "{parameters:?}");
        }
    }
}
