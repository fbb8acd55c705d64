//! Adds, changes and deletes link sources, and seals their secrets anew.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::error::{Conflict, FieldError, FieldProblem, Resource, RoadmapError, Validated};
use crate::model::audit::{Audit, Change};
use crate::model::id::{LinkSourceId, TrackId, WorkspaceId};
use crate::model::link::Tracker;
use crate::model::link_source::{LinkSource, LinkSourceChange, parse_tracker};
use crate::model::text::Name;
use crate::policy::sealing::{SealedKind, SealedPlace, Sealer, SecretText};
use crate::ports::{Maintenance, UnitOfWork};
use crate::usecase::executor::{Executor, Operation, OperationContext, Performed};

/// Minimum and maximum number of characters of a secret.
const SECRET_LENGTH: std::ops::RangeInclusive<usize> = 16..=255;

/// Validates a secret that somebody chose. Blank counts as absent. It is kept as it was sent.
///
/// # Errors
/// Too short, too long, or with control characters.
pub fn parse_secret(raw: Option<&str>) -> Validated<Option<SecretText>> {
    let raw = raw.unwrap_or_default();
    if raw.trim().is_empty() {
        return Ok(None);
    }
    if !SECRET_LENGTH.contains(&raw.chars().count()) || raw.chars().any(char::is_control) {
        let message = "secret must have 16 to 255 characters";
        return Err(FieldError::new("secret", FieldProblem::Custom { message }));
    }
    Ok(Some(SecretText::new(raw.to_owned())))
}

/// Returns the only place at which the secret of a link source opens.
#[must_use]
pub fn secret_place(workspace: WorkspaceId, source: LinkSourceId) -> SealedPlace {
    SealedPlace { workspace, kind: SealedKind::LinkSourceSecret, record: source.uuid() }
}

/// The validated fields of a new link source.
#[derive(Debug, Clone)]
pub struct LinkSourceDraft {
    pub name: Name,
    pub tracker: Tracker,
    /// The other fields. What was not sent is as [`LinkSource`] says: no track, no mail, enabled.
    pub change: LinkSourceChange,
    /// The secret that was sent.
    pub secret: Option<SecretText>,
}

impl LinkSourceDraft {
    /// Validates the required fields, after those of `change` were validated.
    ///
    /// # Errors
    /// A `name` that is missing, or a `kind` that is missing or unknown.
    pub fn parse(kind: Option<&str>, change: LinkSourceChange, secret: Option<SecretText>) -> Validated<Self> {
        let name = change.name.clone().ok_or_else(|| FieldError::missing("name"))?;
        Ok(Self { name, tracker: parse_tracker(kind)?, change, secret })
    }
}

/// Adds a link source.
#[derive(Debug, Clone)]
pub struct AddLinkSource {
    pub draft: LinkSourceDraft,
    pub sealer: Arc<Sealer>,
}

/// A link source that was added.
#[derive(Debug, Clone)]
pub struct LinkSourceAdded {
    pub source: LinkSource,
    /// Its secret, which is shown now and never again.
    pub secret: SecretText,
}

/// Changes a link source.
#[derive(Debug, Clone)]
pub struct UpdateLinkSource {
    pub source: LinkSourceId,
    pub change: LinkSourceChange,
    /// A new secret.
    pub secret: Option<SecretText>,
    pub sealer: Arc<Sealer>,
}

/// Deletes a link source. Links keep what it has reported.
#[derive(Debug, Clone, Copy)]
pub struct DeleteLinkSource {
    pub source: LinkSourceId,
}

/// Returns a link source with its sealed secret.
///
/// # Errors
/// [`RoadmapError::NotFound`] when it does not exist.
pub(crate) async fn find(work: &mut dyn UnitOfWork, id: LinkSourceId) -> Result<(LinkSource, String), RoadmapError> {
    let sources = work.load_link_sources().await?;
    let found = sources.into_iter().find(|(source, _)| source.id == id);
    found.ok_or(RoadmapError::NotFound(Resource::LinkSource))
}

/// Checks that the track of a change exists.
async fn check_track(work: &mut dyn UnitOfWork, change: &LinkSourceChange) -> Result<(), RoadmapError> {
    if let Some(track) = change.closed_track.flatten() {
        work.find_track(track).await?.ok_or(RoadmapError::NotFound(Resource::Track))?;
    }
    Ok(())
}

fn track_value(track: Option<TrackId>) -> Value {
    track.map(|track| track.to_string()).into()
}

#[async_trait]
impl Operation for AddLinkSource {
    type Output = LinkSourceAdded;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<LinkSourceAdded>, RoadmapError> {
        let LinkSourceDraft { name, tracker, change, secret } = &self.draft;
        check_track(work, change).await?;
        if work.load_link_sources().await?.len() as u64 >= LinkSource::MAX {
            return Err(RoadmapError::Conflict(Conflict::TooManyLinkSources));
        }
        let source = LinkSource {
            id: context.new_id(LinkSourceId::new),
            name: name.clone(),
            tracker: *tracker,
            closed_track: change.closed_track.flatten(),
            notify_all_voters: change.notify_all_voters.unwrap_or(false),
            enabled: change.enabled.unwrap_or(true),
            last_received_at: None,
            created_at: context.now,
            updated_at: context.now,
        };
        let secret = secret.clone().unwrap_or_else(|| self.sealer.new_secret());
        let sealed = self.sealer.seal(secret_place(context.workspace, source.id), &secret);
        work.save_link_source(&source, &sealed).await?;
        let changes = vec![
            Change::new("name", Value::Null, source.name.as_str()),
            Change::new("kind", Value::Null, source.tracker.name()),
            Change::new("closed_track_id", Value::Null, track_value(source.closed_track)),
        ];
        let audit = Audit::with_changes("link_source.create", "link_source", Some(source.id.uuid()), changes);
        Ok(Performed::new(LinkSourceAdded { source, secret }, audit))
    }
}

#[async_trait]
impl Operation for UpdateLinkSource {
    type Output = LinkSource;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<LinkSource>, RoadmapError> {
        let (source, sealed) = find(work, self.source).await?;
        check_track(work, &self.change).await?;
        let mut changed = source.with_change(&self.change, context.now);
        let place = secret_place(context.workspace, source.id);
        let sealed = match &self.secret {
            Some(secret) => {
                changed.updated_at = context.now;
                self.sealer.seal(place, secret)
            }
            None => sealed,
        };
        if changed == source && self.secret.is_none() {
            return Ok(Performed::new(source, Audit::Unchanged));
        }
        work.save_link_source(&changed, &sealed).await?;
        let changes = [
            Change::between("name", source.name.as_str(), changed.name.as_str()),
            Change::between("closed_track_id", track_value(source.closed_track), track_value(changed.closed_track)),
            Change::between("notify_all_voters", source.notify_all_voters, changed.notify_all_voters),
            Change::between("enabled", source.enabled, changed.enabled),
            self.secret.as_ref().map(|_| Change::without_values("secret")),
        ];
        let changes = changes.into_iter().flatten().collect();
        let audit = Audit::with_changes("link_source.update", "link_source", Some(source.id.uuid()), changes);
        Ok(Performed::new(changed, audit))
    }
}

#[async_trait]
impl Operation for DeleteLinkSource {
    type Output = LinkSource;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<LinkSource>, RoadmapError> {
        let (source, _) = find(work, self.source).await?;
        work.delete_link_source(source.id).await?;
        let changes = vec![Change::new("name", source.name.as_str(), Value::Null)];
        let audit = Audit::with_changes("link_source.delete", "link_source", Some(source.id.uuid()), changes);
        Ok(Performed::new(source, audit))
    }
}

/// Lets another track take the place of one that is deleted, in the link sources that move feature requests to it.
///
/// # Errors
/// Errors of the store.
pub(crate) async fn replace_track(
    work: &mut dyn UnitOfWork,
    track: TrackId,
    target: Option<TrackId>,
) -> Result<(), RoadmapError> {
    for (source, sealed) in work.load_link_sources().await? {
        if source.closed_track == Some(track) {
            work.save_link_source(&LinkSource { closed_track: target, ..source }, &sealed).await?;
        }
    }
    Ok(())
}

/// Seals a secret with the current secret of the service. One that does not open stays as it is.
#[derive(Debug, Clone)]
struct SealAnew {
    source: LinkSourceId,
    sealer: Arc<Sealer>,
}

#[async_trait]
impl Operation for SealAnew {
    /// Whether the secret opened.
    type Output = bool;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<bool>, RoadmapError> {
        let (source, sealed) = find(work, self.source).await?;
        let place = secret_place(context.workspace, source.id);
        let opened = self.sealer.open(place, &sealed);
        if let Ok(secret) = &opened {
            work.save_link_source(&source, &self.sealer.seal(place, secret)).await?;
        }
        Ok(Performed::new(opened.is_ok(), Audit::Unchanged))
    }
}

/// Seals all secrets anew that were not sealed with the current secret of the service, so that previous ones can be
/// removed from the settings. Returns the number of those that do not open.
///
/// # Errors
/// Errors of the store.
pub async fn seal_all_anew(
    maintenance: &dyn Maintenance,
    executor: &Executor,
    sealer: &Arc<Sealer>,
) -> Result<u64, RoadmapError> {
    let mut unreadable = 0;
    for (workspace, source) in maintenance.link_sources_sealed_otherwise(&sealer.current_prefix()).await? {
        match executor.run_without_key(workspace, &SealAnew { source, sealer: sealer.clone() }).await {
            Ok(is_open) => unreadable += u64::from(!is_open),
            // It was deleted meanwhile.
            Err(RoadmapError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::signed_reference::Secret;
    use crate::ports::Random;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{link_source, name, now, perform, track, workspace};
    use std::sync::Mutex;
    use uuid::Uuid;

    struct Zeros;

    impl Random for Zeros {
        fn base62(&self, characters: usize) -> String {
            "0".repeat(characters)
        }
    }

    fn sealer_with(secret: &str) -> Arc<Sealer> {
        Arc::new(Sealer::new(&Secret::parse("secret", secret).unwrap(), &[], Arc::new(Zeros)))
    }

    fn sealer() -> Arc<Sealer> {
        sealer_with("8f0c2b64e19d7a35f1e40b9c6d2a8375")
    }

    /// What was saved, with the text that opens.
    type Saved = Arc<Mutex<Vec<(LinkSource, Option<String>)>>>;

    /// A unit with these link sources, whose secrets are sealed, that remembers what is saved.
    fn unit(sources: Vec<LinkSource>) -> (MockUnit, Saved) {
        let (mut unit, saved) = (MockUnit::new(), Saved::default());
        unit.expect_load_link_sources().returning(move || {
            let sealed = |source: &LinkSource| {
                let secret = SecretText::new("an old secret of 16".to_owned());
                (source.clone(), sealer().seal(secret_place(workspace(), source.id), &secret))
            };
            Ok(sources.iter().map(sealed).collect())
        });
        let saving = saved.clone();
        unit.expect_save_link_source().returning(move |source, sealed| {
            let opened = sealer().open(secret_place(workspace(), source.id), sealed).ok();
            saving.lock().unwrap().push((source.clone(), opened.map(|secret| secret.as_str().to_owned())));
            Ok(())
        });
        unit.expect_find_track().returning(|id| Ok((id == track().id).then(track)));
        (unit, saved)
    }

    fn add(secret: Option<&str>, change: LinkSourceChange) -> AddLinkSource {
        let change = LinkSourceChange { name: Some(name("GitHub")), ..change };
        let draft = LinkSourceDraft::parse(Some("github"), change, parse_secret(secret).unwrap()).unwrap();
        AddLinkSource { draft, sealer: sealer() }
    }

    fn changed_fields(audit: Audit) -> Vec<String> {
        audit.into_entries().remove(0).changes.into_iter().map(|change| change.field).collect()
    }

    #[test]
    fn a_link_source_is_added_with_a_secret_that_is_sealed() {
        for (sent, expected) in [(Some("0123456789abcdef"), "0123456789abcdef".to_owned()), (None, "0".repeat(40))] {
            let (mut unit, saved) = unit(Vec::new());
            let change = LinkSourceChange { closed_track: Some(Some(track().id)), ..LinkSourceChange::default() };
            let added = perform(&add(sent, change), &mut unit).unwrap();
            let LinkSourceAdded { source, secret } = added.output;
            assert_eq!(secret.as_str(), expected);
            assert_eq!((source.notify_all_voters, source.enabled, source.last_received_at), (false, true, None));
            assert_eq!((source.closed_track, source.tracker), (Some(track().id), Tracker::Github));
            assert_eq!(*saved.lock().unwrap(), [(source, Some(expected.clone()))]);
            assert!(!format!("{:?}", added.audit).contains(&expected));
            assert_eq!(changed_fields(added.audit), ["name", "kind", "closed_track_id"]);
        }
    }

    #[test]
    fn a_workspace_has_a_limited_number_of_link_sources_and_only_known_tracks() {
        let full = vec![link_source(); 20];
        let error = perform(&add(None, LinkSourceChange::default()), &mut unit(full).0).unwrap_err();
        assert_eq!(error.to_string(), "A workspace has at most 20 link sources.");
        let unknown = Some(Some(TrackId::new(Uuid::from_u128(0xbad))));
        let change = LinkSourceChange { closed_track: unknown, ..LinkSourceChange::default() };
        let error = perform(&add(None, change.clone()), &mut unit(Vec::new()).0).unwrap_err();
        assert_eq!(error.to_string(), "Track does not exist.");
        let (mut work, saved) = unit(vec![link_source()]);
        let update = UpdateLinkSource { source: link_source().id, change, secret: None, sealer: sealer() };
        assert_eq!(perform(&update, &mut work).unwrap_err().to_string(), "Track does not exist.");
        assert!(saved.lock().unwrap().is_empty());
    }

    #[test]
    fn only_a_change_is_saved_and_recorded() {
        let update = |change: LinkSourceChange, secret: Option<&str>| UpdateLinkSource {
            source: link_source().id,
            change,
            secret: parse_secret(secret).unwrap(),
            sealer: sealer(),
        };
        let (mut work, saved) = unit(vec![link_source()]);
        let same = LinkSourceChange { name: Some(link_source().name), ..LinkSourceChange::default() };
        assert!(!perform(&update(same, None), &mut work).unwrap().has_changed());
        assert!(saved.lock().unwrap().is_empty());
        let disabled = LinkSourceChange { enabled: Some(false), ..LinkSourceChange::default() };
        let performed = perform(&update(disabled, None), &mut work).unwrap();
        assert_eq!(changed_fields(performed.audit), ["enabled"]);
        let secret = "another secret of 16";
        let performed = perform(&update(LinkSourceChange::default(), Some(secret)), &mut work).unwrap();
        assert_eq!(changed_fields(performed.audit.clone()), ["secret"]);
        assert!(!format!("{:?}", performed.audit).contains(secret));
        let saved = saved.lock().unwrap();
        let secrets: Vec<_> = saved.iter().map(|(source, secret)| (source.enabled, secret.as_deref())).collect();
        assert_eq!(secrets, [(false, Some("an old secret of 16")), (true, Some(secret))]);
        assert_eq!(saved[1].0.updated_at, now());
    }

    #[test]
    fn an_unknown_link_source_is_neither_changed_nor_deleted() {
        let unknown = LinkSourceId::new(Uuid::from_u128(0xbad));
        let update =
            UpdateLinkSource { source: unknown, change: LinkSourceChange::default(), secret: None, sealer: sealer() };
        let error = perform(&update, &mut unit(vec![link_source()]).0).unwrap_err();
        assert_eq!(error.to_string(), "LinkSource does not exist.");
        let error = perform(&DeleteLinkSource { source: unknown }, &mut unit(vec![link_source()]).0).unwrap_err();
        assert_eq!(error.to_string(), "LinkSource does not exist.");
        let (mut work, _) = unit(vec![link_source()]);
        work.expect_delete_link_source().withf(|id| *id == link_source().id).times(1).returning(|_| Ok(()));
        let deleted = perform(&DeleteLinkSource { source: link_source().id }, &mut work).unwrap();
        assert_eq!(changed_fields(deleted.audit), ["name"]);
    }

    #[test]
    fn a_secret_has_16_to_255_characters() {
        let length = |raw: &str| parse_secret(Some(raw)).map(|secret| secret.map(|secret| secret.as_str().len()));
        assert_eq!(length(""), Ok(None));
        assert_eq!(length("   "), Ok(None));
        assert_eq!(parse_secret(None), Ok(None));
        assert_eq!(length(&"x".repeat(16)), Ok(Some(16)));
        assert_eq!(length(&"ä".repeat(255)), Ok(Some(510)));
        assert_eq!(length(" with spaces around it "), Ok(Some(23)));
        for refused in ["x".repeat(15), "x".repeat(256), "x".repeat(20) + "\n", "x".repeat(20) + "\0"] {
            let error = parse_secret(Some(&refused)).unwrap_err();
            assert_eq!(error.to_string(), "secret must have 16 to 255 characters", "{refused:?}");
        }
    }

    #[test]
    fn another_track_takes_the_place_of_a_deleted_one() {
        let other = LinkSource { closed_track: None, ..link_source() };
        let (mut work, saved) = unit(vec![other, LinkSource { closed_track: Some(track().id), ..link_source() }]);
        let target = TrackId::new(Uuid::from_u128(0x7));
        pollster::block_on(replace_track(&mut work, track().id, Some(target))).unwrap();
        pollster::block_on(replace_track(&mut work, track().id, None)).unwrap();
        let saved = saved.lock().unwrap();
        let tracks: Vec<_> = saved.iter().map(|(source, _)| source.closed_track).collect();
        assert_eq!(tracks, [Some(target), None]);
    }

    #[test]
    fn a_secret_that_does_not_open_stays_as_it_is() {
        let (mut work, saved) = unit(vec![link_source()]);
        let anew = |sealer| SealAnew { source: link_source().id, sealer };
        assert!(perform(&anew(sealer()), &mut work).unwrap().output);
        assert_eq!(*saved.lock().unwrap(), [(link_source(), Some("an old secret of 16".to_owned()))]);
        let (mut work, saved) = unit(vec![link_source()]);
        assert!(!perform(&anew(sealer_with("1b5d8a40c7e2936ff07a4d8be3169c52")), &mut work).unwrap().output);
        assert!(saved.lock().unwrap().is_empty());
    }
}
