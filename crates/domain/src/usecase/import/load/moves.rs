//! Status changes of a source become events of the past.

use std::collections::HashMap;

use super::{BatchWriter, GONE, RunContext, StagedMove, folded, from, member_name, pair};
use crate::error::RoadmapError;
use crate::model::audit::Actor;
use crate::model::email_address::FoldedEmail;
use crate::model::event::{Event, EventContent, Move, NewEvent};
use crate::model::id::{EventId, FeatureRequestId, MemberId, TrackId};
use crate::model::import::ImportedMove;
use crate::model::import::records::{Kind, Person, Prepared};
use crate::model::track::Placement;
use crate::policy::import_tracks;

/// Who has moved what somebody has moved who was erased.
const ERASED: &str = "Team";

impl RunContext {
    /// Returns the track of a status with its public status, and its ID if it is there.
    fn placement(&self, status: Option<&str>) -> Result<(Placement, Option<TrackId>), RoadmapError> {
        if let Some(past) = status.and_then(|status| self.past.get(&import_tracks::fold(status))) {
            return Ok((past.clone(), None));
        }
        let track = self.track(status)?;
        Ok((Placement { track: track.name.clone(), status: track.status().cloned() }, Some(track.id)))
    }
}

impl BatchWriter<'_, '_> {
    pub(super) async fn moves(&mut self, moves: &[Prepared<StagedMove>]) -> Result<(), RoadmapError> {
        let ids = moves.iter().map(|staged| staged.record.moved.external_id.clone()).collect();
        let known = self.find(Kind::Moves, ids).await?;
        let requests =
            self.find_ids(Kind::FeatureRequests, moves.iter().map(|staged| &staged.record.moved.request)).await?;
        let members = self.members_of(moves.iter().filter_map(|staged| staged.record.moved.author.as_ref())).await?;
        let (mut new, mut from_source) = (Vec::new(), Vec::new());
        for (Prepared { digest, record: StagedMove { from: before, moved } }, known) in moves.iter().zip(&known) {
            if self.is_gone(&requests, &moved.request) {
                self.refuse(GONE);
                continue;
            }
            let request = requests.get(&moved.request);
            match known {
                Some(known) if known.digest == *digest => self.written.count.unchanged += 1,
                Some(_) => self.written.count.kept += 1,
                // What an earlier run has made is where it was put here, whatever the source says.
                None if request.is_some_and(|request| request.import != self.run.id) => self.written.count.kept += 1,
                None => {
                    self.written.count.new += 1;
                    self.written.events += 1;
                    let Some(request) = request else { continue };
                    let (before, _) = self.run.placement(before.as_deref())?;
                    let (after, track) = self.run.placement(Some(&moved.status))?;
                    let event = Move { from: before, to: after, comment: None };
                    let changes_status = event.changes_status();
                    let id = self.context.new_id(EventId::new);
                    from_source.push(from(moved.external_id.clone(), id.uuid(), digest));
                    let actor = self.actor(moved.author.as_ref(), &members)?;
                    let event = Event { id, content: EventContent::Moved(event), actor, created_at: moved.at };
                    let event = NewEvent { request: FeatureRequestId::new(request.id), event };
                    new.push(ImportedMove { event, track, changes_status });
                }
            }
        }
        if !self.run.is_dry {
            self.work.import_moves(&new).await?;
        }
        self.remember(Kind::Moves, from_source).await
    }

    async fn members_of<'a>(
        &mut self,
        people: impl Iterator<Item = &'a Person>,
    ) -> Result<HashMap<FoldedEmail, MemberId>, RoadmapError> {
        let addresses = folded(&self.addresses(people)?);
        Ok(pair(&addresses, self.work.find_all_members(&addresses).await?))
    }

    /// Returns the member, or the operator with the name of the person in the source.
    fn actor(&self, person: Option<&Person>, members: &HashMap<FoldedEmail, MemberId>) -> Result<Actor, RoadmapError> {
        let Some(person) = person else { return Ok(self.context.actor.clone()) };
        if self.is_erased(person)? {
            return Ok(Actor::operator(ERASED));
        }
        let address = self.run.address(person)?;
        let name = person.name.as_deref();
        Ok(match members.get(address.folded()) {
            Some(member) => Actor::member(*member, &member_name(name, &address)?),
            None => Actor::operator(name.unwrap_or(&self.context.actor.name)),
        })
    }
}
