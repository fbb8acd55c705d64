//! The portal of a workspace: its settings, changelogs, images, accounts and sitemap. Its lists, the pages of feature
//! requests and what waits for approval have files of their own.

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::attachment::Attachment;
use roadmap_domain::model::audit::Audit;
use roadmap_domain::model::changelog::{
    Changelog, ChangelogCategory, ChangelogChange, ChangelogDraft, ChangelogFields, CoverImage,
};
use roadmap_domain::model::customer::CustomerDraft;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary, RequestLink};
use roadmap_domain::model::id::{AttachmentId, ChangelogId, CommentId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::localized::Localized;
use roadmap_domain::model::mail::Unsubscription;
use roadmap_domain::model::portal::{
    AccountLists, Color, EmbedOrigin, FollowedRequest, Language, MailDomain, Noun, Portal, PortalAccess, PortalChange,
    PortalFilter, PortalList, PortalSettings, PublishedChangelog, SitemapEntry, Viewer,
};
use roadmap_domain::model::time_zone::TimeZone;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::trending::{Ranking, WantedRanking};
use roadmap_domain::ports::{AttachmentDeletion, UnitOfWork};
use roadmap_domain::usecase::change_changelog::{EditChangelog, PublishChangelog, UnpublishChangelog};
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::edit_feature_request::FeatureRequestChange;
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};
use roadmap_domain::usecase::update_portal::UpdatePortal;
use time::Duration;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::attachments::{Delete, delete_unused, removed};
use crate::harness::{
    Failing, Harness, changelog_fields, draft, held_idea, largest_page, member_viewer, new_title, new_visibility, page,
};

/// Loads the settings and replaces them. The output is what was loaded.
struct Replace(PortalSettings);

#[async_trait]
impl Operation for Replace {
    type Output = PortalSettings;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<PortalSettings>, RoadmapError> {
        let old = work.load_portal().await?;
        work.save_portal(&self.0).await?;
        Ok(Performed::new(old, Audit::Unchanged))
    }
}

/// Adds a mail domain to the settings.
struct AddDomain(usize);

#[async_trait]
impl Operation for AddDomain {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        let mut settings = work.load_portal().await?;
        settings.mail_domains.push(domain(self.0));
        work.save_portal(&settings).await?;
        Ok(Performed::new((), Audit::Unchanged))
    }
}

fn domain(number: usize) -> MailDomain {
    MailDomain::from_stored(format!("d{number}.example"))
}

fn set_logo(logo: Option<AttachmentId>) -> UpdatePortal {
    UpdatePortal { change: PortalChange { logo: Some(logo), ..PortalChange::default() } }
}

fn cover(file: &Attachment) -> CoverImage {
    CoverImage { attachment: file.id, filename: file.filename.clone() }
}

async fn portal(harness: &Harness, workspace: WorkspaceId) -> Portal {
    harness.subject.reader.portal(workspace).await.unwrap().expect("the portal")
}

/// Settings are returned as they were stored, to their own workspace. Without stored ones, the default ones apply.
///
/// Addition 7: both of `/portal` concern the own workspace only.
pub async fn settings_of_a_portal_are_stored(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let setting = harness.subject.reader.setting(acme).await.unwrap().unwrap();
    let unset = Portal { setting, settings: PortalSettings::default(), logo: None };
    assert_eq!(portal(&harness, acme).await, unset);
    assert_eq!(harness.subject.reader.portal(WorkspaceId::new(Uuid::from_u128(1))).await.unwrap(), None);
    let logo = harness.attachment(acme, 1).await;
    let all = PortalSettings {
        access: PortalAccess::Private,
        mail_domains: vec![domain(2), domain(1), MailDomain::from_stored("a\"'\\,[ü].example".to_owned())],
        is_indexed: false,
        embed_origins: vec![EmbedOrigin::from_stored("https://help.example.com:8443".to_owned())],
        languages: vec![Language::Arabic, Language::English],
        holds_posts: true,
        accent: Some(Color::new(0x17, 0x69, 0x4f)),
        logo: Some(logo.id),
        reply_to: Some(EmailAddress::parse("reply_to", "Help@Bücher.example").unwrap()),
        time_zone: TimeZone::from_stored("Europe/Berlin"),
        welcome_text: Localized::default().with(Language::English, "**Hi** \"you\"\n\u{1f600}"),
        form_question: Localized::default().with(Language::German, "Was?").with(Language::Arabic, "\u{645}"),
        noun: Noun::Ideas,
    };
    harness.failure(acme, &Failing(Replace(all.clone()))).await;
    assert_eq!(portal(&harness, acme).await, unset);
    let mut old = PortalSettings::default();
    for settings in [
        all.clone(),
        PortalSettings { access: PortalAccess::Off, accent: Some(Color::new(0, 0, 0)), ..all.clone() },
        PortalSettings { logo: None, accent: None, reply_to: None, languages: vec![Language::German], ..all.clone() },
        PortalSettings::default(),
        PortalSettings { embed_origins: Vec::new(), is_indexed: true, ..all.clone() },
        all,
    ] {
        assert_eq!(harness.perform(acme, &Replace(settings.clone())).await, old);
        let logo = settings.logo.map(|_| cover(&logo));
        assert_eq!(portal(&harness, acme).await, Portal { settings: settings.clone(), logo, ..unset.clone() });
        assert_eq!(portal(&harness, bolt).await.settings, PortalSettings::default());
        old = settings;
    }
    harness.perform(bolt, &AddDomain(7)).await;
    assert_eq!(portal(&harness, bolt).await.settings.mail_domains, [domain(7)]);
    assert_eq!(portal(&harness, acme).await.settings, old);
    assert_eq!((harness.count("portal_settings", acme).await, harness.count("portal_settings", bolt).await), (1, 1));
}

/// Concurrent changes of the settings follow each other, also the first ones.
///
/// Addition 7: concurrent changes of the portal are all kept.
pub async fn concurrent_changes_of_a_portal_are_all_kept(harness: Harness) {
    const CHANGES: usize = 16;
    let workspace = harness.workspace("acme").await;
    let mut changes = JoinSet::new();
    for number in 0..CHANGES {
        let executor = harness.executor.clone();
        changes.spawn(async move { executor.run_without_key(workspace, &AddDomain(number)).await.unwrap() });
    }
    while let Some(changed) = changes.join_next().await {
        changed.unwrap();
    }
    let mut domains = portal(&harness, workspace).await.settings.mail_domains;
    domains.sort_by_key(|domain| domain.as_str().to_owned());
    let mut expected: Vec<MailDomain> = (0..CHANGES).map(domain).collect();
    expected.sort_by_key(|domain| domain.as_str().to_owned());
    assert_eq!(domains, expected);
}

/// A logo is a file of the same workspace. It is in use until it is replaced or removed.
///
/// Addition 7.
pub async fn a_logo_is_in_use(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let [one, two] = [harness.attachment(acme, 1).await, harness.attachment(acme, 2).await];
    harness.next_second();
    let unknown = AttachmentId::new(Uuid::from_u128(9));
    for (workspace, file) in [(bolt, one.id), (acme, unknown)] {
        let message = "logo_signed_id is not the signed_id of an uploaded image";
        assert_eq!(harness.failure(workspace, &set_logo(Some(file))).await, message);
    }
    harness.perform(acme, &set_logo(Some(one.id))).await;
    assert_eq!(harness.perform(acme, &Delete(one.id)).await, AttachmentDeletion::InUse);
    harness.perform(acme, &set_logo(Some(two.id))).await;
    assert_eq!(portal(&harness, acme).await.logo, Some(cover(&two)));
    let deleted = delete_unused(&harness, acme, 10).await;
    assert_eq!(deleted.iter().map(|file| file.key).collect::<Vec<_>>(), [one.key]);
    assert_eq!(harness.perform(acme, &Delete(two.id)).await, AttachmentDeletion::InUse);
    harness.perform(acme, &set_logo(None)).await;
    assert_eq!(portal(&harness, acme).await.logo, None);
    assert_eq!(harness.perform(acme, &Delete(two.id)).await, AttachmentDeletion::Deleted(removed(&two)));
}

/// Of a concurrent deletion and use of a file as the logo, one wins.
///
/// Addition 7.
pub async fn a_file_is_deleted_or_the_logo(harness: Harness) {
    let acme = harness.workspace("acme").await;
    for number in 1..=20 {
        let file = harness.attachment(acme, number).await;
        harness.next_second();
        let (logo, delete) = (set_logo(Some(file.id)), Delete(file.id));
        let deletes = async {
            if number % 2 == 0 {
                let deleted = harness.executor.run_without_key(acme, &delete).await.unwrap();
                deleted == AttachmentDeletion::Deleted(removed(&file))
            } else {
                !delete_unused(&harness, acme, 10).await.is_empty()
            }
        };
        let (set, deleted) = tokio::join!(harness.executor.run_without_key(acme, &logo), deletes);
        let is_there = harness.subject.reader.attachment(acme, file.id).await.unwrap().is_some();
        assert_eq!((set.is_ok(), deleted), (is_there, !is_there), "{number}");
        let expected = is_there.then(|| cover(&file));
        assert_eq!(portal(&harness, acme).await.logo, expected, "{number}");
        harness.perform(acme, &set_logo(None)).await;
        delete_unused(&harness, acme, 10).await;
    }
}

/// Creates a changelog. `publish_at` schedules it.
async fn announce(
    harness: &Harness,
    workspace: WorkspaceId,
    (title, publish, publish_at): (&str, bool, Option<Timestamp>),
    linked: &[&FeatureRequestSummary],
    cover: Option<&Attachment>,
) -> Changelog {
    let ids = linked.iter().map(|request| request.id.to_string()).collect();
    let fields = ChangelogFields {
        category: Some(cover.map(|_| "improved".to_owned())),
        cover_image_signed_id: cover.map(|_| Some("signed".to_owned())),
        feature_request_ids: Some(Some(ids)),
        publish_at: publish_at.map(|at| Some(at.to_string())),
        ..changelog_fields(title, &format!("<p>About <b>{title}</b></p>"))
    };
    let draft = ChangelogDraft::parse(&fields, publish, |_| cover.map(|file| file.id));
    harness.perform(workspace, &CreateChangelog { draft: draft.unwrap() }).await.changelog
}

/// What the portal shows of a changelog that is public, with these feature requests.
async fn portal_changelog(
    harness: &Harness,
    workspace: WorkspaceId,
    changelog: &Changelog,
    requests: &[FeatureRequestId],
) -> PublishedChangelog {
    let mut feature_requests = Vec::new();
    for request in requests {
        feature_requests.push(harness.detail(workspace, *request).await.summary);
    }
    let Changelog { id, title, content, category, cover, public_from, updated_at, .. } = changelog.clone();
    let published_at = public_from.expect("the changelog is public");
    PublishedChangelog { id, title, content, category, cover, published_at, updated_at, feature_requests }
}

/// Lists all published changelogs, in pages of one, of two, and at once.
async fn published(harness: &Harness, workspace: WorkspaceId, now: Timestamp) -> Vec<PublishedChangelog> {
    let pages = &harness.subject.reader;
    let all = pages.published_changelogs(workspace, now, largest_page()).await.unwrap();
    assert_eq!((all.total, all.request), (all.items.len() as u64, largest_page()));
    for size in [1, 2] {
        let mut paged = Vec::new();
        for number in 1..=all.total / size + 1 {
            let listing = pages.published_changelogs(workspace, now, page(number, size)).await.unwrap();
            assert_eq!((listing.total, listing.request), (all.total, page(number, size)));
            paged.extend(listing.items);
        }
        assert_eq!(paged, all.items);
    }
    for (index, changelog) in all.items.iter().enumerate() {
        let neighbours =
            pages.changelog_neighbours(workspace, changelog.id, changelog.published_at, now).await.unwrap();
        let link = |index: Option<usize>| index.and_then(|index| all.items.get(index)).map(|changelog| changelog.id);
        let found = (neighbours.newer.map(|link| link.id), neighbours.older.map(|link| link.id));
        assert_eq!(found, (link(index.checked_sub(1)), link(Some(index + 1))));
        let single = pages.published_changelog(workspace, changelog.id, now).await.unwrap();
        assert_eq!(single.as_ref(), Some(changelog));
    }
    all.items
}

/// Only what is public at a time is listed, the latest publication first. Drafts and scheduled ones are not found.
pub async fn changelogs_are_shown_once_they_are_public(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let image = harness.attachment(acme, 1).await;
    let soon = harness.now().plus(Duration::HOUR);
    let later = harness.now().plus(Duration::DAY);
    let scheduled = announce(&harness, acme, ("scheduled", false, Some(later)), &[], None).await;
    let becomes_public = announce(&harness, acme, ("soon", false, Some(soon)), &[], Some(&image)).await;
    let draft = announce(&harness, acme, ("draft", false, None), &[], None).await;
    assert_eq!(published(&harness, acme, harness.now()).await, []);
    let first_at = harness.next_second();
    let first = announce(&harness, acme, ("first", true, None), &[], None).await;
    let expected = [portal_changelog(&harness, acme, &first, &[]).await];
    assert_eq!(published(&harness, acme, harness.now()).await, expected);
    assert_eq!(published(&harness, acme, first_at.plus(-Duration::MILLISECOND)).await, []);
    assert_eq!(published(&harness, acme, soon.plus(-Duration::MILLISECOND)).await, expected);
    assert_eq!(published(&harness, bolt, later).await, []);

    harness.clock.advance(Duration::HOUR);
    // The order is that of the publications, not of the creations.
    let publish = PublishChangelog { changelog: draft.id, notify_subscribers: false };
    let last = harness.perform(acme, &publish).await.detail.changelog;
    let gone = announce(&harness, acme, ("gone", true, None), &[], None).await;
    let mut expected = Vec::new();
    for changelog in [&last, &becomes_public, &first] {
        expected.push(portal_changelog(&harness, acme, changelog, &[]).await);
    }
    assert_eq!(expected[1].cover, Some(cover(&image)));
    assert_eq!(expected[1].category, Some(ChangelogCategory::Improved));
    harness.perform(acme, &UnpublishChangelog { changelog: gone.id }).await;
    assert_eq!(published(&harness, acme, harness.now()).await, expected);
    let pages = &harness.subject.reader;
    let unknown = ChangelogId::new(Uuid::from_u128(1));
    for (workspace, changelog) in [(acme, scheduled.id), (acme, gone.id), (acme, unknown), (bolt, last.id)] {
        assert_eq!(pages.published_changelog(workspace, changelog, harness.now()).await.unwrap(), None);
    }
    let at = harness.next_second();
    let title = new_title("edited").title;
    let edit = EditChangelog { changelog: first.id, change: ChangelogChange { title, ..ChangelogChange::default() } };
    let edited = harness.perform(acme, &edit).await.detail.changelog;
    assert_eq!(edited.updated_at, at);
    expected[2] = portal_changelog(&harness, acme, &edited, &[]).await;
    assert_eq!(published(&harness, acme, harness.now()).await, expected);
    expected.insert(0, portal_changelog(&harness, acme, &scheduled, &[]).await);
    assert_eq!(published(&harness, acme, later).await, expected);
    // Equal times of publication.
    for number in 0..3 {
        announce(&harness, acme, (&format!("same {number}"), true, None), &[], None).await;
    }
    assert_eq!(published(&harness, acme, harness.now()).await.len(), 6);
}

/// A changelog shows the public feature requests that it is about, in the team's order. A merged one is what it was
/// merged into, once.
pub async fn changelogs_show_public_requests_only(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [first, merged, root, hidden_root, led_to_hidden, gone] =
        harness.requests(workspace, ["Quokka", "Lichen", "Fern", "Gecko", "Zebra", "Burrow"]).await;
    let private = FeatureRequestDraft { private: true, ..draft("Numbat", &[], "") };
    let private = harness.create(workspace, private).await;
    let private_source = FeatureRequestDraft { private: true, ..draft("Wombat", &[], "") };
    let private_source = harness.create(workspace, private_source).await;
    let awaiting = harness.create(workspace, held_idea("Bilby", "ann@example.com")).await;
    harness.merge(workspace, merged.id, root.id).await;
    harness.merge(workspace, led_to_hidden.id, hidden_root.id).await;
    harness.edit(workspace, hidden_root.id, new_visibility(true)).await;
    let linked = [&merged, &private, &awaiting, &first, &root, &led_to_hidden, &gone];
    let one = announce(&harness, workspace, ("1.0", true, None), &linked, None).await;
    harness.next_second();
    let none = announce(&harness, workspace, ("1.1", true, None), &[&private, &hidden_root], None).await;
    harness.next_second();
    let two = announce(&harness, workspace, ("2.0", true, None), &[&private_source, &private], None).await;
    let check = async |of_two: &[FeatureRequestId], of_one: &[FeatureRequestId]| {
        let expected = [
            portal_changelog(&harness, workspace, &two, of_two).await,
            portal_changelog(&harness, workspace, &none, &[]).await,
            portal_changelog(&harness, workspace, &one, of_one).await,
        ];
        assert_eq!(published(&harness, workspace, harness.now()).await, expected);
    };
    check(&[], &[root.id, first.id, gone.id]).await;
    harness.vote(workspace, &root, "ann@example.com").await;
    harness.merge(workspace, private_source.id, first.id).await;
    harness.delete(workspace, gone.id, false).await;
    check(&[first.id], &[root.id, first.id]).await;
    harness.edit(workspace, first.id, new_visibility(true)).await;
    check(&[], &[root.id]).await;
    harness.unmerge(workspace, merged.id).await;
    harness.edit(workspace, awaiting.id, new_visibility(false)).await;
    check(&[], &[merged.id, awaiting.id, root.id]).await;
}

/// A feature request was shipped with the latest public changelog about it or what is merged into it.
pub async fn the_latest_public_changelog_about_a_request_is_found(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let [source, target, other] = harness.requests(acme, ["Night", "Dark mode", "Export"]).await;
    let shipped = async |request: FeatureRequestId, at: Timestamp| {
        let found = harness.subject.reader.shipped_in(acme, request, at).await.unwrap();
        found.map(|shipped| (shipped.changelog, shipped.title.as_str().to_owned(), shipped.published_at))
    };
    announce(&harness, acme, ("draft", false, None), &[&target], None).await;
    assert_eq!(shipped(target.id, harness.now()).await, None);
    let first_at = harness.next_second();
    let first = announce(&harness, acme, ("first", true, None), &[&source, &other], None).await;
    let first = (first.id, "first".to_owned(), first_at);
    let soon = harness.now().plus(Duration::HOUR);
    let next = announce(&harness, acme, ("next", false, Some(soon)), &[&target], None).await;
    assert_eq!(shipped(target.id, harness.now()).await, None);
    assert_eq!(shipped(other.id, harness.now()).await, Some(first.clone()));
    // What is merged into it was shipped with it. Later ones count once they are public.
    harness.merge(acme, source.id, target.id).await;
    assert_eq!(shipped(target.id, harness.now()).await, Some(first));
    assert_eq!(shipped(target.id, first_at.plus(-Duration::MILLISECOND)).await, None);
    assert_eq!(shipped(target.id, soon).await, Some((next.id, "next".to_owned(), soon)));
    assert_eq!(harness.subject.reader.shipped_in(bolt, target.id, soon).await.unwrap(), None);
}

/// Everybody may see the covers of public changelogs and the logo, and no other files.
pub async fn only_covers_and_the_logo_are_public(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let mut files = Vec::new();
    for number in 1..=6 {
        files.push(harness.attachment(acme, number).await);
    }
    // Nothing uses the last one.
    let [of_public, of_draft, of_scheduled, logo, old_logo] = [&files[0], &files[1], &files[2], &files[3], &files[4]];
    let soon = harness.now().plus(Duration::HOUR);
    let public = announce(&harness, acme, ("1.0", true, None), &[], Some(of_public)).await;
    announce(&harness, acme, ("1.1", false, None), &[], Some(of_draft)).await;
    announce(&harness, acme, ("1.2", false, Some(soon)), &[], Some(of_scheduled)).await;
    for logo in [old_logo, logo] {
        harness.perform(acme, &set_logo(Some(logo.id))).await;
    }
    let check = async |now: Timestamp, seen: &[&Attachment]| {
        for file in &files {
            let image = harness.subject.reader.public_image(acme, file.id, now).await.unwrap();
            assert_eq!(image.as_ref(), seen.contains(&file).then_some(file), "{}", file.id);
            assert_eq!(harness.subject.reader.public_image(bolt, file.id, now).await.unwrap(), None);
        }
    };
    check(harness.now(), &[of_public, logo]).await;
    check(harness.now().plus(-Duration::MILLISECOND), &[logo]).await;
    check(soon.plus(-Duration::MILLISECOND), &[of_public, logo]).await;
    check(soon, &[of_public, of_scheduled, logo]).await;
    // A file of a draft and of a public changelog is public.
    announce(&harness, acme, ("2.0", true, None), &[], Some(of_draft)).await;
    check(harness.now(), &[of_public, of_draft, logo]).await;
    harness.perform(acme, &UnpublishChangelog { changelog: public.id }).await;
    harness.perform(acme, &set_logo(None)).await;
    check(harness.now(), &[of_draft]).await;
    let unknown = AttachmentId::new(Uuid::from_u128(99));
    assert_eq!(harness.subject.reader.public_image(acme, unknown, soon).await.unwrap(), None);
}

/// An account lists what the person voted for or gets mail about, the one whose status changed last first, and what the
/// person submitted. Merged feature requests are what they were merged into. Private ones of others are left out.
pub async fn an_account_lists_what_belongs_to_it(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let lists = async |workspace, address: &str, limit| {
        let customer = harness.customer(acme, address).await;
        let (email, id) = (customer.email.folded().clone(), Some(customer.id));
        harness.subject.reader.account_lists(workspace, &email, id, limit).await.unwrap()
    };
    let [first, second, third, merged, hidden, other] =
        harness.requests(acme, ["Quokka", "Lichen", "Fern", "Gecko", "Zebra", "Burrow"]).await;
    let vote = async |request: &FeatureRequestSummary, address: &str| {
        harness.vote(acme, request, address).await;
        harness.next_second();
    };
    for request in [&second, &third, &first, &hidden, &merged] {
        vote(request, "ann@example.com").await;
    }
    vote(&other, "bob@example.com").await;
    harness.subscribe(acme, other.id, "ann@example.com").await;
    harness.subscribe(acme, third.id, "ann@example.com").await;
    harness.subscribe(acme, hidden.id, "bob@example.com").await;
    harness.edit(acme, hidden.id, new_visibility(true)).await;
    harness.merge(acme, merged.id, second.id).await;
    let author = || harness.customer(acme, "ann@example.com");
    let of_ann = |draft: FeatureRequestDraft, email: &str| {
        let customer = CustomerDraft::parse(Some(email), None).ok();
        FeatureRequestDraft { customer, ..draft }
    };
    let public_idea = harness.create(acme, of_ann(draft("Numbat", &[], "<p>Teeth</p>"), "ann@example.com")).await;
    let private = FeatureRequestDraft { private: true, ..draft("Wombat", &[], "") };
    let private_idea = harness.create(acme, of_ann(private, "ANN@example.com")).await;
    let merged_idea = harness.create(acme, of_ann(draft("Potoroo", &[], ""), "ann@example.com")).await;
    harness.merge(acme, merged_idea.id, other.id).await;
    let held = harness.create(acme, held_idea("Bilby", "ann@example.com")).await;
    let marks = |lists: &AccountLists| -> Vec<(i64, bool, bool)> {
        let mark = |entry: &FollowedRequest| (entry.row.summary.tag_number, entry.has_voted, entry.is_followed);
        lists.followed.iter().map(mark).collect()
    };
    let all = lists(acme, "ann@example.com", 50).await;
    // Who submits an idea votes for it.
    let both = |numbers: &[i64]| numbers.iter().map(|number| (*number, true, true)).collect::<Vec<_>>();
    assert_eq!(marks(&all), both(&[10, 8, 7, 6, 3, 2, 1]));
    for entry in &all.followed {
        assert_eq!(harness.detail(acme, entry.row.summary.id).await.summary, entry.row.summary);
        assert_eq!(entry.row.status_since, entry.row.summary.created_at);
    }
    let idea_rows: Vec<_> = all
        .ideas
        .iter()
        .map(|row| (row.summary.id, row.private, row.awaiting_approval, row.excerpt.as_str()))
        .collect();
    let expected =
        [(held.id, true, true, ""), (private_idea.id, true, false, ""), (public_idea.id, false, false, "Teeth")];
    assert_eq!(idea_rows, expected);
    assert!(all.ideas.iter().all(|idea| all.followed.iter().any(|entry| entry.row == *idea)), "{all:?}");
    assert_eq!(all.sessions, []);

    let at = harness.next_second();
    harness.move_to(acme, second.id, "Planned").await;
    let few = lists(acme, "ann@example.com", 2).await;
    assert_eq!((marks(&few), few.followed[0].row.status_since), (both(&[2, 10]), at));
    assert_eq!(few.ideas[..], all.ideas[..2]);
    assert_eq!(lists(bolt, "ann@example.com", 50).await, AccountLists::default());
    let of_bob = lists(acme, "bob@example.com", 50).await;
    assert_eq!((marks(&of_bob), of_bob.ideas), (both(&[6]), Vec::new()));
    // Ended subscriptions are none; a withdrawn vote is none.
    harness.unsubscribe(acme, author().await.id, Unsubscription::Request(merged.id)).await.unwrap();
    harness.withdraw(acme, third.id, "ann@example.com").await;
    harness.withdraw(acme, first.id, "ann@example.com").await;
    let left = lists(acme, "ann@example.com", 50).await;
    let others = [both(&[10, 8, 7, 6]), vec![(3, false, true)]].concat();
    assert_eq!(marks(&left), [vec![(2, true, false)], others].concat());
    harness.unsubscribe(acme, author().await.id, Unsubscription::Everything).await.unwrap();
    let stopped = lists(acme, "ann@example.com", 50).await;
    assert_eq!(marks(&stopped), [2, 10, 8, 7, 6].map(|number| (number, true, false)));
    assert_eq!(stopped.ideas, left.ideas);
}

/// The sitemap has all public feature requests in the order of their numbers. The last number is the highest so far.
pub async fn the_sitemap_has_all_public_requests(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let pages = &harness.subject.reader;
    assert_eq!((pages.sitemap(acme, 0, 10).await.unwrap(), pages.last_tag_number(acme).await.unwrap()), (vec![], 0));
    let [first, second, private, merged, fifth] =
        harness.requests(acme, ["Quokka", "Lichen", "Fern", "Gecko", "Zebra"]).await;
    harness.edit(acme, private.id, new_visibility(true)).await;
    harness.merge(acme, merged.id, fifth.id).await;
    harness.next_second();
    let title = new_title("Größer");
    harness.edit(acme, second.id, FeatureRequestChange { tags: Some(Vec::new()), ..title }).await;
    let awaiting = harness.create(acme, held_idea("Bilby", "ann@example.com")).await;
    harness.request(bolt, "Own").await;
    let mut expected = Vec::new();
    for request in [first.id, second.id, fifth.id] {
        let detail = harness.detail(acme, request).await;
        expected.push(SitemapEntry { request: RequestLink::from(&detail.summary), updated_at: detail.updated_at });
    }
    for (after, limit, from, to) in
        [(0, 10, 0, 3), (0, 2, 0, 2), (1, 10, 1, 3), (2, 1, 2, 3), (4, 5, 2, 3), (5, 5, 3, 3)]
    {
        assert_eq!(pages.sitemap(acme, after, limit).await.unwrap(), expected[from..to], "{after} {limit}");
    }
    assert_eq!((pages.last_tag_number(acme).await.unwrap(), pages.last_tag_number(bolt).await.unwrap()), (6, 1));
    harness.delete(acme, awaiting.id, false).await;
    harness.request(acme, "Numbat").await;
    assert_eq!(pages.last_tag_number(acme).await.unwrap(), 7);
    assert_eq!(pages.sitemap(acme, 5, 5).await.unwrap()[0].request.tag_number, 7);
}

/// No page of a portal shows anything of another workspace.
///
/// Portal.
pub async fn nothing_is_shown_to_another_portal(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let request = harness.create(acme, draft("Dark mode", &["ui"], "<p>Eyes</p>")).await;
    harness.vote(acme, &request, "ann@example.com").await;
    harness.hold(acme, request.id, "<p>Please</p>", "ann@example.com").await;
    harness.create(acme, held_idea("Bilby", "ann@example.com")).await;
    announce(&harness, acme, ("1.0", true, None), &[&request], None).await;
    let ann = harness.customer(acme, "ann@example.com").await;
    let (pages, now) = (&harness.subject.reader, harness.now());
    let viewer = Viewer { customer: Some(ann.id), is_member: true };
    for reference in [FeatureRequestRef::Id(request.id), FeatureRequestRef::Number(1)] {
        assert_eq!(pages.request_page(bolt, &reference, viewer, None).await.unwrap(), None);
        assert_eq!(pages.visible_request(bolt, &reference, viewer).await.unwrap(), None);
        assert!(pages.request_page(acme, &reference, member_viewer(), None).await.unwrap().is_some());
    }
    let ids = [request.id];
    assert_eq!(pages.portal_list(bolt, &PortalList::default()).await.unwrap().total, 0);
    let wanted = WantedRanking { closed: Vec::new(), new_since: Timestamp::MIN, places: 0..10 };
    let ranking = pages.trending(bolt, &PortalFilter::default(), &wanted).await.unwrap();
    assert_eq!(ranking, Ranking::default());
    assert_eq!(pages.portal_rows(bolt, &ids).await.unwrap(), []);
    assert_eq!(pages.matching(bolt, &PortalFilter::default(), &ids).await.unwrap(), []);
    assert_eq!(pages.voted_among(bolt, ann.id, &ids).await.unwrap(), []);
    let own = [CommentId::new(request.id.uuid())];
    assert_eq!(pages.written_among(bolt, ann.id, &own).await.unwrap(), []);
    assert_eq!(pages.published_changelogs(bolt, now, largest_page()).await.unwrap().total, 0);
    let lists = pages.account_lists(bolt, ann.email.folded(), Some(ann.id), 50).await.unwrap();
    assert_eq!(lists, AccountLists::default());
    assert_eq!((pages.sitemap(bolt, 0, 10).await.unwrap(), pages.last_tag_number(bolt).await.unwrap()), (vec![], 0));
    assert_eq!(pages.held_posts(bolt, largest_page()).await.unwrap().total, 0);
    assert_eq!(pages.portal_list(acme, &PortalList::default()).await.unwrap().total, 1);
    assert_eq!(pages.held_posts(acme, largest_page()).await.unwrap().total, 2);
}

crate::contract::cases!($ portal {
    settings_of_a_portal_are_stored,
    concurrent_changes_of_a_portal_are_all_kept,
    a_logo_is_in_use,
    a_file_is_deleted_or_the_logo,
    changelogs_are_shown_once_they_are_public,
    changelogs_show_public_requests_only,
    the_latest_public_changelog_about_a_request_is_found,
    only_covers_and_the_logo_are_public,
    an_account_lists_what_belongs_to_it,
    the_sitemap_has_all_public_requests,
    nothing_is_shown_to_another_portal,
});
