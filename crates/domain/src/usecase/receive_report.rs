//! Receives the reports of issue trackers: links get the titles and states of their issues, and feature requests whose
//! issues are done move.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use thiserror::Error;

use crate::error::{ErrorChain, RoadmapError};
use crate::model::audit::{Actor, ActorKind, Audit, Channel, Origin};
use crate::model::feature_request::FeatureRequestRef;
use crate::model::id::{FeatureRequestId, LinkId, LinkSourceId, WorkspaceId};
use crate::model::link::{Link, LinkChange, LinkState, Tracker};
use crate::model::link_source::{LinkSource, Report};
use crate::model::member::Author;
use crate::policy::issue_reports;
use crate::policy::sealing::{Sealer, SecretText};
use crate::ports::{Clock, Reads, UnitOfWork};
use crate::usecase::change_link_sources::{find, secret_place};
use crate::usecase::change_links::link_change_entry;
use crate::usecase::executor::{Executor, Operation, OperationContext, Performed};
use crate::usecase::move_feature_request::{MoveDraft, move_to};

/// Maximum number of links that one unit of work changes.
const BATCH: u32 = 100;

/// What a report has changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReportApplied {
    pub links_updated: u64,
    pub feature_requests_moved: u64,
}

/// The reason why a report is not taken.
#[derive(Debug, Error)]
pub enum ReportError {
    /// There is no such link source, it is disabled, or the proof is missing or wrong. One error for all.
    #[error("Signature is not valid")]
    NotProved,
    /// The body is no JSON.
    #[error("Request body is not valid JSON")]
    NotJson,
    /// The report could not be applied.
    #[error(transparent)]
    Failed(#[from] RoadmapError),
}

/// Receives the reports of all link sources.
#[derive(Clone)]
pub struct ReceiveReport {
    reads: Arc<dyn Reads>,
    executor: Executor,
    sealer: Arc<Sealer>,
    clock: Arc<dyn Clock>,
}

impl ReceiveReport {
    /// Creates the use case.
    #[must_use]
    pub fn new(reads: Arc<dyn Reads>, executor: Executor, sealer: Arc<Sealer>, clock: Arc<dyn Clock>) -> Self {
        Self { reads, executor, sealer, clock }
    }

    /// Finds a link source that takes reports, so that nothing else is read of a request to another one.
    ///
    /// # Errors
    /// [`ReportError::NotProved`], or [`ReportError::Failed`] with errors of the store.
    pub async fn find(&self, workspace: WorkspaceId, source: LinkSourceId) -> Result<KnownSource, ReportError> {
        let found = self.reads.sealed_link_source(workspace, source).await.map_err(RoadmapError::from)?;
        let (source, sealed) = found.filter(|(source, _)| source.enabled).ok_or(ReportError::NotProved)?;
        match self.sealer.open(secret_place(workspace, source.id), &sealed) {
            Ok(secret) => Ok(KnownSource { workspace, source, secret }),
            Err(error) => {
                let error = ErrorChain::new(&error);
                tracing::error!(%workspace, link_source = %source.id, %error, "the secret of a link source cannot be read");
                Err(ReportError::NotProved)
            }
        }
    }

    /// Applies a report to all links to its issue. `proof` is the value of the header [`KnownSource::proof_header`],
    /// `request_id` that of the HTTP request.
    ///
    /// # Errors
    /// [`ReportError`]. After [`ReportError::Failed`] some links may have been changed.
    pub async fn receive(
        &self,
        known: &KnownSource,
        proof: &[u8],
        body: &[u8],
        request_id: Option<String>,
    ) -> Result<ReportApplied, ReportError> {
        let KnownSource { workspace, source, secret } = known;
        if !issue_reports::is_proved(source.tracker, secret, proof, body) {
            return Err(ReportError::NotProved);
        }
        let body: Value = serde_json::from_slice(body).map_err(|_| ReportError::NotJson)?;
        let report = issue_reports::read(source.tracker, &body, self.clock.now());
        let actor = Actor { kind: ActorKind::Service, id: None, name: source.name.to_string() };
        let executor = self.executor.acting_as(Origin { actor, channel: Channel::Api, request_id });
        let mut all = ReportApplied::default();
        let mut apply = ApplyReport { source: source.id, report, after: None };
        loop {
            let (applied, next) = executor.run_without_key(*workspace, &apply).await?;
            all.links_updated += applied.links_updated;
            all.feature_requests_moved += applied.feature_requests_moved;
            let Some(next) = next else { return Ok(all) };
            apply.after = Some(next);
        }
    }
}

/// A link source that takes reports.
#[derive(Debug, Clone)]
pub struct KnownSource {
    workspace: WorkspaceId,
    source: LinkSource,
    secret: SecretText,
}

impl KnownSource {
    /// Returns whose reports it understands.
    #[must_use]
    pub fn tracker(&self) -> Tracker {
        self.source.tracker
    }

    /// Returns the header that proves a report.
    #[must_use]
    pub fn proof_header(&self) -> &'static str {
        issue_reports::proof_header(self.source.tracker)
    }
}

/// Applies a report to some of the links to its issue.
#[derive(Debug, Clone)]
struct ApplyReport {
    source: LinkSourceId,
    /// `None` says nothing of an issue.
    report: Option<Report>,
    /// Only links after the one with this ID.
    after: Option<LinkId>,
}

#[async_trait]
impl Operation for ApplyReport {
    /// What has changed, and the last one of the links if there may be more.
    type Output = (ReportApplied, Option<LinkId>);

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Self::Output>, RoadmapError> {
        let (source, sealed) = find(work, self.source).await?;
        work.save_link_source(&LinkSource { last_received_at: Some(context.now), ..source.clone() }, &sealed).await?;
        let mut performed = Performed::new((ReportApplied::default(), None), Audit::Unchanged);
        let Some(report) = &self.report else { return Ok(performed) };
        if work.last_report(&report.issue).await?.is_some_and(|last| last > report.at) {
            return Ok(performed);
        }
        let links = work.links_to(&report.issue, self.after, BATCH).await?;
        let change = LinkChange { title: report.title.clone().map(Some), state: Some(Some(report.state)) };
        let changed: Vec<Link> = links.iter().map(|(_, link)| link.with_change(&change, context.now)).collect();
        work.save_reported_links(&changed, report.at).await?;
        let mut closed: Vec<FeatureRequestId> = Vec::new();
        for ((request, before), after) in links.iter().zip(&changed) {
            if before == after {
                continue;
            }
            performed.output.0.links_updated += 1;
            performed.join(Performed::new((), link_change_entry(before, after)));
            let is_closed_now = before.state != Some(LinkState::Closed) && after.state == Some(LinkState::Closed);
            if is_closed_now && !closed.contains(request) {
                closed.push(*request);
            }
        }
        if let Some(track) = source.closed_track.filter(|_| report.is_done) {
            let draft =
                MoveDraft { track, author: Author::Oldest, notify_all_voters: source.notify_all_voters, comment: None };
            for request in closed {
                if !work.has_open_links(request).await? {
                    let moved = move_request(request, &draft, context, work).await?;
                    performed.output.0.feature_requests_moved += u64::from(performed.join(moved));
                }
            }
        }
        performed.output.1 = links.last().filter(|_| links.len() >= BATCH as usize).map(|(_, link)| link.id);
        Ok(performed)
    }
}

/// Moves a feature request. Returns whether it was on another track before.
async fn move_request(
    request: FeatureRequestId,
    draft: &MoveDraft,
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
) -> Result<Performed<bool>, RoadmapError> {
    let (Some(request), Some(track)) =
        (work.lock_feature_request(&FeatureRequestRef::Id(request)).await?, work.find_track(draft.track).await?)
    else {
        return Ok(Performed::new(false, Audit::Unchanged));
    };
    Ok(move_to(&track, request, draft, context, work).await?.map(|moved| moved.moved.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::StoreError;
    use crate::model::link::LinkUrl;
    use crate::policy::signed_reference::Secret;
    use crate::ports::mocks::{MockReads, MockStore, MockUnit};
    use crate::ports::{BeginOutcome, EndOutcome, Random};
    use crate::usecase::fixtures::{
        FixedClock, executor_of, link, link_source, now, perform, summary, track, workspace,
    };
    use pollster::block_on;
    use serde_json::json;
    use std::sync::Mutex;
    use time::Duration;
    use uuid::Uuid;

    const ISSUE: &str = "https://github.com/acme/app/issues/7";

    fn issue_link(number: u128, state: Option<LinkState>) -> Link {
        Link { id: LinkId::new(Uuid::from_u128(number)), state, ..link(ISSUE) }
    }

    fn request_id(number: u128) -> FeatureRequestId {
        FeatureRequestId::new(Uuid::from_u128(number))
    }

    fn report(state: LinkState, is_done: bool) -> Report {
        let issue = LinkUrl::parse(Some(ISSUE)).unwrap().issue();
        Report { issue, title: None, state, is_done, at: now() }
    }

    /// A unit with a link source and these links. `open` are the feature requests with another link that is open. Returns
    /// the moved feature requests, too.
    fn unit(
        links: Vec<(FeatureRequestId, Link)>,
        open: Vec<FeatureRequestId>,
    ) -> (MockUnit, Arc<Mutex<Vec<FeatureRequestId>>>) {
        let (mut unit, moves) = (MockUnit::new(), Arc::new(Mutex::new(Vec::new())));
        let source = LinkSource { closed_track: Some(track().id), ..link_source() };
        unit.expect_load_link_sources().returning(move || Ok(vec![(source.clone(), "sealed".to_owned())]));
        unit.expect_save_link_source()
            .withf(|source, sealed| source.last_received_at == Some(now()) && sealed == "sealed")
            .times(1)
            .returning(|_, _| Ok(()));
        unit.expect_last_report().returning(|_| Ok(None));
        unit.expect_links_to().returning(move |_, after, limit| {
            let after = after.map_or(0, |after| after.uuid().as_u128());
            let rest = links.iter().filter(|(_, link)| link.id.uuid().as_u128() > after);
            Ok(rest.take(limit as usize).cloned().collect())
        });
        unit.expect_save_reported_links().withf(|_, at| *at == now()).returning(|_, _| Ok(()));
        unit.expect_has_open_links().returning(move |request| Ok(open.contains(&request)));
        unit.expect_find_track().returning(|_| Ok(Some(track())));
        unit.expect_lock_feature_request().returning(|request| {
            let FeatureRequestRef::Id(id) = *request else { panic!("an id") };
            let mut found = summary("Inbox", None, 1);
            found.id = id;
            Ok(Some(found))
        });
        let moved = moves.clone();
        unit.expect_set_feature_request_track().returning(move |request, _, _, _| {
            moved.lock().unwrap().push(request);
            Ok(())
        });
        unit.expect_insert_event().returning(|_| Ok(()));
        (unit, moves)
    }

    fn apply(report: Report) -> ApplyReport {
        ApplyReport { source: link_source().id, report: Some(report), after: None }
    }

    /// Links: when an issue becomes closed and done, and no other link is open, the feature request moves.
    #[test]
    fn a_feature_request_moves_when_its_last_open_issue_is_done() {
        let (open, closed) = (Some(LinkState::Open), Some(LinkState::Closed));
        for (before, report, is_other_open, is_updated, is_moved) in [
            (open, report(LinkState::Closed, true), false, true, true),
            (None, report(LinkState::Closed, true), false, true, true),
            (open, report(LinkState::Closed, true), true, true, false),
            (open, report(LinkState::Closed, false), false, true, false),
            // It was closed before.
            (closed, report(LinkState::Closed, true), false, false, false),
            // Reopening moves nothing back.
            (closed, report(LinkState::Open, false), false, true, false),
        ] {
            let others = if is_other_open { vec![request_id(1)] } else { Vec::new() };
            let (mut unit, moves) = unit(vec![(request_id(1), issue_link(1, before))], others);
            let performed = perform(&apply(report.clone()), &mut unit).unwrap();
            let expected =
                ReportApplied { links_updated: u64::from(is_updated), feature_requests_moved: u64::from(is_moved) };
            assert_eq!(performed.output, (expected, None), "{before:?} {report:?} {is_other_open}");
            assert_eq!(moves.lock().unwrap().len(), usize::from(is_moved));
            let actions: Vec<_> = performed.audit.into_entries().into_iter().map(|entry| entry.action).collect();
            let all = ["link.update", "feature_request.move"];
            assert_eq!(actions, all[..usize::from(is_updated) + usize::from(is_moved)]);
        }
    }

    #[test]
    fn a_feature_request_with_two_links_to_the_issue_moves_once() {
        let open = Some(LinkState::Open);
        // The second link belongs to what is merged into the first one's feature request.
        let links = vec![
            (request_id(1), issue_link(1, open)),
            (request_id(1), issue_link(2, open)),
            (request_id(2), issue_link(3, open)),
        ];
        let (mut unit, moves) = unit(links, Vec::new());
        let performed = perform(&apply(report(LinkState::Closed, true)), &mut unit).unwrap();
        assert_eq!(performed.output.0, ReportApplied { links_updated: 3, feature_requests_moved: 2 });
        assert_eq!(*moves.lock().unwrap(), [request_id(1), request_id(2)]);
    }

    #[test]
    fn without_a_track_nothing_moves() {
        let mut unit = MockUnit::new();
        unit.expect_load_link_sources().returning(|| Ok(vec![(link_source(), "sealed".to_owned())]));
        unit.expect_save_link_source().returning(|_, _| Ok(()));
        unit.expect_last_report().returning(|_| Ok(None));
        unit.expect_links_to().returning(|_, _, _| Ok(vec![(request_id(1), issue_link(1, None))]));
        unit.expect_save_reported_links().returning(|_, _| Ok(()));
        let performed = perform(&apply(report(LinkState::Closed, true)), &mut unit).unwrap();
        assert_eq!(performed.output.0, ReportApplied { links_updated: 1, feature_requests_moved: 0 });
    }

    /// Links: a report that is older than the last one of the issue changes nothing.
    #[test]
    fn an_older_report_changes_nothing() {
        for (last, is_taken) in
            [(Duration::ZERO, true), (Duration::milliseconds(-1), true), (Duration::milliseconds(1), false)]
        {
            let mut unit = MockUnit::new();
            unit.expect_load_link_sources().returning(|| Ok(vec![(link_source(), "sealed".to_owned())]));
            unit.expect_save_link_source().returning(|_, _| Ok(()));
            unit.expect_last_report().returning(move |_| Ok(Some(now().plus(last))));
            unit.expect_links_to().returning(|_, _, _| Ok(vec![(request_id(1), issue_link(1, None))]));
            unit.expect_save_reported_links().times(usize::from(is_taken)).returning(|_, _| Ok(()));
            let performed = perform(&apply(report(LinkState::Open, false)), &mut unit).unwrap();
            assert_eq!(performed.output.0.links_updated, u64::from(is_taken));
        }
    }

    struct Zeros;

    impl Random for Zeros {
        fn base62(&self, characters: usize) -> String {
            "0".repeat(characters)
        }
    }

    fn sealer() -> Arc<Sealer> {
        let secret = Secret::parse("secret", "8f0c2b64e19d7a35f1e40b9c6d2a8375").unwrap();
        Arc::new(Sealer::new(&secret, &[], Arc::new(Zeros)))
    }

    const TOKEN: &str = "a token of GitLab";

    /// A receiver with a link source of GitLab, whose units have this number of links.
    fn receiver(source: LinkSource, links: u128) -> ReceiveReport {
        let mut reads = MockReads::new();
        let found = source.clone();
        reads.expect_sealed_link_source().returning(move |of, id| {
            let secret = SecretText::new(TOKEN.to_owned());
            Ok((id == found.id).then(|| (found.clone(), sealer().seal(secret_place(of, id), &secret))))
        });
        let mut store = MockStore::new();
        store.expect_begin().returning(move |_, _| -> Result<_, StoreError> {
            let all =
                (1..=links).map(|number| (request_id(number), issue_link(number, Some(LinkState::Open)))).collect();
            let (mut unit, _) = unit(all, Vec::new());
            unit.expect_record_events().returning(|events| {
                assert!(events.iter().all(|event| event.actor.name == "GitHub"));
                Ok(())
            });
            unit.expect_insert_audit_entry().returning(|entry| {
                assert_eq!((entry.origin.actor.kind, entry.origin.actor.name.as_str()), (ActorKind::Service, "GitHub"));
                assert_eq!((entry.origin.channel, entry.origin.request_id.as_deref()), (Channel::Api, Some("r-1")));
                Ok(())
            });
            unit.expect_commit().return_once(|_, _| Ok(EndOutcome::Applied));
            Ok(BeginOutcome::Started(Box::new(unit)))
        });
        ReceiveReport::new(Arc::new(reads), executor_of(store), sealer(), Arc::new(FixedClock))
    }

    fn send(
        receiver: &ReceiveReport,
        source: LinkSourceId,
        token: Option<&str>,
        body: &str,
    ) -> Result<ReportApplied, String> {
        block_on(async {
            let known = receiver.find(workspace(), source).await?;
            let proof = token.filter(|_| known.proof_header() == "X-Gitlab-Token").unwrap_or_default();
            receiver.receive(&known, proof.as_bytes(), body.as_bytes(), Some("r-1".to_owned())).await
        })
        .map_err(|error| error.to_string())
    }

    fn gitlab() -> LinkSource {
        LinkSource { tracker: Tracker::Gitlab, ..link_source() }
    }

    fn body() -> String {
        json!({ "object_kind": "issue", "object_attributes": {
            "url": "https://gitlab.com/acme/app/-/issues/7", "state": "closed", "updated_at": now().to_string(),
        } })
        .to_string()
    }

    /// Links: one answer for everything that is not proved.
    #[test]
    fn what_is_not_proved_is_refused_before_it_is_read() {
        let refused = Err("Signature is not valid".to_owned());
        let known = gitlab().id;
        let unknown = LinkSourceId::new(Uuid::from_u128(0xbad));
        assert_eq!(send(&receiver(gitlab(), 0), unknown, Some(TOKEN), &body()), refused);
        assert_eq!(send(&receiver(gitlab(), 0), known, Some("another token"), &body()), refused);
        assert_eq!(send(&receiver(gitlab(), 0), known, None, "no JSON"), refused);
        let disabled = LinkSource { enabled: false, ..gitlab() };
        assert_eq!(send(&receiver(disabled, 0), known, Some(TOKEN), &body()), refused);
        // A tracker with another proof.
        assert_eq!(send(&receiver(link_source(), 0), known, Some(TOKEN), &body()), refused);
        let not_json = Err("Request body is not valid JSON".to_owned());
        assert_eq!(send(&receiver(gitlab(), 0), known, Some(TOKEN), "no JSON"), not_json);
        let nothing = Ok(ReportApplied::default());
        assert_eq!(send(&receiver(gitlab(), 3), known, Some(TOKEN), "{}"), nothing);
        assert_eq!(send(&receiver(gitlab(), 0), known, Some(TOKEN), &body()), nothing);
    }

    #[test]
    fn many_links_are_changed_in_several_units_of_work() {
        for links in [1, 99, 100, 101, 250] {
            let applied = send(&receiver(gitlab(), links), gitlab().id, Some(TOKEN), &body()).unwrap();
            let all = u64::try_from(links).unwrap();
            assert_eq!(applied, ReportApplied { links_updated: all, feature_requests_moved: all });
        }
    }

    #[test]
    fn a_secret_that_does_not_open_proves_nothing() {
        let mut reads = MockReads::new();
        reads.expect_sealed_link_source().returning(|_, _| Ok(Some((gitlab(), "sealed1.x.y.z".to_owned()))));
        let receiver =
            ReceiveReport::new(Arc::new(reads), executor_of(MockStore::new()), sealer(), Arc::new(FixedClock));
        assert_eq!(send(&receiver, gitlab().id, Some(TOKEN), &body()), Err("Signature is not valid".to_owned()));
    }

    #[test]
    fn the_time_of_the_last_report_is_saved_also_if_it_says_nothing() {
        let (mut unit, _) = unit(Vec::new(), Vec::new());
        let nothing = ApplyReport { source: link_source().id, report: None, after: None };
        assert!(!perform(&nothing, &mut unit).unwrap().has_changed());
    }
}
