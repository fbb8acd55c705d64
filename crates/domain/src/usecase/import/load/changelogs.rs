//! Changelogs of a source. Nobody gets mail about them.

use std::collections::HashMap;

use super::{BatchWriter, Fate, from};
use crate::error::RoadmapError;
use crate::model::changelog::{self, ChangelogCategory, EditableChangelog, MAX_LINKED};
use crate::model::feature_request::Title;
use crate::model::html::CleanHtml;
use crate::model::id::{ChangelogId, FeatureRequestId};
use crate::model::import::ImportedRecord;
use crate::model::import::records::{Changelog, Kind, Prepared};
use crate::policy::storage;

impl BatchWriter<'_, '_> {
    pub(super) async fn changelogs(&mut self, changelogs: &[Prepared<Changelog>]) -> Result<(), RoadmapError> {
        let ids = changelogs.iter().map(|changelog| changelog.record.external_id.clone()).collect();
        let known = self.find(Kind::Changelogs, ids).await?;
        let linked = changelogs.iter().flat_map(|changelog| &changelog.record.requests);
        let requests = self.find_ids(Kind::FeatureRequests, linked).await?;
        let mut from_source = Vec::new();
        for (Prepared { digest, record }, known) in changelogs.iter().zip(&known) {
            let fate = self.fate(known.as_ref(), digest);
            if let Fate::New | Fate::Overwritten(_) = fate {
                let links = storage::ROW_BYTES * record.requests.len() as u64;
                self.written.bytes += storage::row_bytes(&[&record.title, &record.body]) + links;
            }
            match fate {
                _ if self.run.is_dry => {}
                Fate::New => {
                    let id = self.context.new_id(ChangelogId::new);
                    self.insert_changelog(id, record, linked_of(record, &requests)).await?;
                    from_source.push(from(record.external_id.clone(), id.uuid(), digest));
                }
                Fate::Overwritten(known) => {
                    self.overwrite_changelog(ChangelogId::new(known.id), record, linked_of(record, &requests)).await?;
                    from_source.push(from(record.external_id.clone(), known.id, digest));
                }
                Fate::Unchanged | Fate::Kept => {}
            }
        }
        self.remember(Kind::Changelogs, from_source).await
    }

    async fn insert_changelog(
        &mut self,
        id: ChangelogId,
        record: &Changelog,
        feature_requests: Vec<FeatureRequestId>,
    ) -> Result<(), RoadmapError> {
        let created_at = record.published_at.unwrap_or(self.run.began_at);
        let content = CleanHtml::from_stored(record.body.clone());
        let changelog = changelog::Changelog {
            id,
            title: Title::parse("title", &record.title)?,
            content: self.keep_pictures(&content, id.uuid()).await?,
            category: category_of(record),
            cover: None,
            public_from: record.published_at,
            created_at,
            updated_at: created_at,
        };
        self.work.insert_changelog(&changelog, &feature_requests).await?;
        if record.published_at.is_some() {
            // Its readers know it from the source.
            let editable = EditableChangelog { changelog, feature_requests, is_notified: true, notifies: false };
            self.work.save_changelog(&editable).await?;
        }
        Ok(())
    }

    async fn overwrite_changelog(
        &mut self,
        id: ChangelogId,
        record: &Changelog,
        feature_requests: Vec<FeatureRequestId>,
    ) -> Result<(), RoadmapError> {
        let Some(mut editable) = self.work.find_changelog(id).await? else { return Ok(()) };
        let content = CleanHtml::from_stored(record.body.clone());
        editable.changelog.title = Title::parse("title", &record.title)?;
        editable.changelog.content = self.keep_pictures(&content, id.uuid()).await?;
        editable.changelog.category = category_of(record);
        editable.changelog.updated_at = self.context.now;
        editable.changelog.public_from = record.published_at;
        editable.is_notified = record.published_at.is_some();
        editable.feature_requests = feature_requests;
        Ok(self.work.save_changelog(&editable).await?)
    }
}

fn category_of(record: &Changelog) -> Option<ChangelogCategory> {
    record.category.as_deref().and_then(|category| ChangelogCategory::from_name(&category.to_lowercase()))
}

/// Returns the feature requests that a changelog links to and that are there, each once, as many as a changelog has.
fn linked_of(record: &Changelog, requests: &HashMap<String, ImportedRecord>) -> Vec<FeatureRequestId> {
    let mut linked = Vec::new();
    for known in record.requests.iter().filter_map(|id| requests.get(id)).filter(|known| known.times.is_some()) {
        let id = FeatureRequestId::new(known.id);
        if linked.len() < MAX_LINKED && !linked.contains(&id) {
            linked.push(id);
        }
    }
    linked
}
