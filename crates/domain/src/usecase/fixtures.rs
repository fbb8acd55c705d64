//! Fixtures for the unit tests of the use cases.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use pollster::block_on;
use time::Duration;
use uuid::Uuid;

use crate::error::RoadmapError;
use crate::model::attachment::{Attachment, BlobKey, Checksum, Filename};
use crate::model::audit::Actor;
use crate::model::base_url::BaseUrl;
use crate::model::changelog::{Changelog, EditableChangelog};
use crate::model::feature_request::{FeatureRequestDetail, FeatureRequestRef, FeatureRequestSummary, Title};
use crate::model::html::CleanHtml;
use crate::model::id::{
    ApiKeyId, AttachmentId, ChangelogId, FeatureRequestId, LinkId, LinkSourceId, TrackId, WebhookId, WorkspaceId,
};
use crate::model::link::{Link, LinkDraft, Tracker};
use crate::model::link_source::LinkSource;
use crate::model::mail::MailSender;
use crate::model::media_type::MediaType;
use crate::model::portal::{Portal, PortalSettings};
use crate::model::setting::Setting;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::track::{Placement, Track};
use crate::model::webhook::{Inclusion, Webhook, WebhookFormat};
use crate::model::workspace::Subdomain;
use crate::policy::announcements;
use crate::policy::links::Links;
use crate::policy::signed_reference::{ReferenceSigner, Secret};
use crate::ports::mocks::{MockOperationLocks, MockRetryPause, MockStore, MockUnit};
use crate::ports::{BeginOutcome, Clock, EndOutcome, IdGenerator};
use crate::usecase::executor::{Executor, Operation, OperationContext, Performed};

pub(crate) fn workspace() -> WorkspaceId {
    WorkspaceId::new(Uuid::from_u128(0xa11))
}

pub(crate) fn now() -> Timestamp {
    Timestamp::from_millis(1_770_000_000_000).unwrap()
}

/// The sender of the mail of a workspace with default settings.
pub(crate) fn mail_sender(subdomain: &str) -> MailSender {
    let setting = Setting::parse("Acme", "https://acme.example").unwrap();
    let portal = Portal { setting, settings: PortalSettings::default(), logo: None };
    MailSender { subdomain: Subdomain::from_label(subdomain).unwrap(), name: None, portal }
}

pub(crate) fn name(text: &str) -> Name {
    Name::from_stored(text.to_owned())
}

/// A signer of references.
pub(crate) fn references() -> Arc<ReferenceSigner> {
    let secret = Secret::parse("secret", &"s".repeat(Secret::MIN_LENGTH)).unwrap();
    Arc::new(ReferenceSigner::new(secret, Vec::new()))
}

/// Links of the workspace `acme`.
pub(crate) fn links() -> Links {
    let base_url = BaseUrl::parse("base_url", "https://roadmap.example.com").unwrap();
    Links::new(&base_url, &Subdomain::from_label("acme").unwrap(), workspace(), references())
}

/// An image.
pub(crate) fn attachment() -> Attachment {
    let id = AttachmentId::new(Uuid::from_u128(0xa));
    Attachment {
        id,
        filename: Filename::sanitize("a.png"),
        media_type: MediaType::from_stored("image/png".to_owned()),
        byte_size: 7,
        checksum: Checksum([0; 16]),
        key: BlobKey { workspace: workspace(), attachment: id },
        service_name: "local".to_owned(),
        dimensions: None,
        created_at: now(),
    }
}

/// The ID of [`changelog`].
pub(crate) const CHANGELOG: ChangelogId = ChangelogId::new(Uuid::from_u128(4));

/// A changelog of yesterday about [`summary`].
pub(crate) fn changelog(public_from: Option<Timestamp>, is_notified: bool) -> EditableChangelog {
    let created_at = now().plus(-Duration::DAY);
    let changelog = Changelog {
        id: CHANGELOG,
        title: Title::parse("title", "1.2").unwrap(),
        content: CleanHtml::parse("content", "New").unwrap(),
        category: None,
        cover: None,
        public_from,
        created_at,
        updated_at: created_at,
    };
    EditableChangelog { changelog, feature_requests: vec![summary("", None, 0).id], is_notified, notifies: false }
}

/// A link without a title, of yesterday.
pub(crate) fn link(url: &str) -> Link {
    let draft = LinkDraft::parse(Some(url), None, None).unwrap();
    draft.to_link(LinkId::new(Uuid::from_u128(6)), now().plus(-Duration::DAY))
}

/// A link source of GitHub without a track, of yesterday.
pub(crate) fn link_source() -> LinkSource {
    LinkSource {
        id: LinkSourceId::new(Uuid::from_u128(0x51)),
        name: name("GitHub"),
        tracker: Tracker::Github,
        closed_track: None,
        notify_all_voters: false,
        enabled: true,
        last_received_at: None,
        created_at: now().plus(-Duration::DAY),
        updated_at: now().plus(-Duration::DAY),
    }
}

/// An enabled webhook that gets all public events.
pub(crate) fn webhook(format: WebhookFormat) -> Webhook {
    Webhook {
        id: WebhookId::new(Uuid::from_u128(0x3eb)),
        sealed_url: String::new(),
        secrets: Vec::new(),
        description: String::new(),
        format,
        events: None,
        includes: Inclusion::default(),
        enabled: true,
        disabled_because: None,
        enabled_at: now(),
        disabled_at: None,
        failing_since: None,
        failed_tries: 0,
        created_at: now(),
        updated_at: now(),
    }
}

/// A track without a lane.
pub(crate) fn track() -> Track {
    Track { id: TrackId::new(Uuid::from_u128(0x7ac)), name: name("Shipped"), lane: None }
}

pub(crate) struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        now()
    }
}

/// Generates 1, 2, 3, …
#[derive(Default)]
pub(crate) struct NumberedIds(AtomicU64);

impl IdGenerator for NumberedIds {
    fn next(&self, _: Timestamp) -> Uuid {
        Uuid::from_u128(u128::from(self.0.fetch_add(1, Ordering::SeqCst) + 1))
    }
}

pub(crate) fn context(ids: &NumberedIds) -> OperationContext<'_> {
    static ACTOR: LazyLock<Actor> = LazyLock::new(actor);
    OperationContext::new(workspace(), now(), &ACTOR, ids)
}

/// Performs an operation in the context of the other fixtures.
pub(crate) fn perform<O: Operation>(operation: &O, unit: &mut MockUnit) -> Result<Performed<O::Output>, RoadmapError> {
    let performed = block_on(operation.perform(&context(&NumberedIds::default()), unit));
    if let Ok(Performed { audit, events, .. }) = &performed {
        assert!(announcements::are_complete(audit, events), "{audit:?} announces {events:?}");
    }
    performed
}

/// An executor of one operation, whose unit of work commits. Without a unit, it runs none.
pub(crate) fn executor(unit: Option<MockUnit>) -> Executor {
    let mut store = MockStore::new();
    if let Some(mut unit) = unit {
        unit.expect_commit().returning(|_, _| Ok(EndOutcome::Applied));
        store.expect_begin().times(1).return_once(move |_, _| Ok(BeginOutcome::Started(Box::new(unit))));
    }
    executor_of(store)
}

/// An executor of operations without keys and without retries.
pub(crate) fn executor_of(store: MockStore) -> Executor {
    let (locks, pause) = (Arc::new(MockOperationLocks::new()), Arc::new(MockRetryPause::new()));
    Executor::new(Arc::new(store), locks, pause, Arc::new(FixedClock), Arc::new(NumberedIds::default()))
}

/// The actor of [`context`].
pub(crate) fn actor() -> Actor {
    Actor::api_key(ApiKeyId::new(Uuid::from_u128(0xac)), &name("support-desk"))
}

pub(crate) fn request() -> FeatureRequestRef {
    FeatureRequestRef::Number(7)
}

/// The feature request that [`request`] references, on a track with or without a lane.
pub(crate) fn summary(track: &str, status: Option<&str>, votes_count: i64) -> FeatureRequestSummary {
    FeatureRequestSummary {
        id: FeatureRequestId::new(Uuid::from_u128(0x7)),
        tag_number: 7,
        title: Title::from_stored("Dark mode".to_owned()),
        placement: Placement { track: name(track), status: status.map(name) },
        votes_count,
        created_at: now(),
    }
}

/// The feature request that [`request`] references, with all of its fields.
pub(crate) fn detail() -> FeatureRequestDetail {
    FeatureRequestDetail {
        summary: summary("Inbox", None, 3),
        description: CleanHtml::from_stored("<p>Eyes</p>".to_owned()),
        tags: Vec::new(),
        private: false,
        awaiting_approval: false,
        comments_count: 0,
        author: None,
        merged: Vec::new(),
        updated_at: now(),
    }
}
