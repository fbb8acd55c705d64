//! `roadmap search`

use std::collections::HashMap;

use clap::Subcommand;
use roadmap_domain::model::id::FeatureRequestId;
use roadmap_domain::model::search::SearchQuery;
use roadmap_domain::policy::ranking::WordMatch;
use roadmap_domain::policy::search::{Hit, Search};
use serde::Serialize;

use super::WorkspaceArgument;
use super::output::{OutputFormat, Row};
use crate::settings::Settings;
use crate::wiring::Application;

/// Number of results that are explained.
const RESULTS: usize = 15;

#[derive(Debug, Subcommand)]
pub(crate) enum SearchCommand {
    /// Show for each result of a search what matched and how it was scored
    Explain {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Words to search for
        query: String,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Index all feature requests of a workspace again (the service does so itself after an update)
    Reindex {
        #[command(flatten)]
        target: WorkspaceArgument,
        #[command(flatten)]
        format: OutputFormat,
    },
}

/// The outcome of indexing again.
#[derive(Serialize)]
struct Reindexed {
    feature_requests: u64,
}

impl Row for Reindexed {
    const COLUMNS: &[&str] = &["feature_requests"];
}

/// An explained result.
#[derive(Serialize)]
struct OutputRow {
    number: i64,
    title: String,
    votes_count: i64,
    score: String,
    coverage: String,
    similarity: String,
    weak: bool,
    /// One text per matched word.
    matches: Vec<String>,
}

impl Row for OutputRow {
    const COLUMNS: &[&str] = &["number", "title", "votes_count", "score", "coverage", "similarity", "weak", "matches"];
}

impl SearchCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let application = Application::open(settings).await?;
        match self {
            Self::Explain { target, query, format } => {
                let workspace = target.find(&application).await?.id;
                let query = SearchQuery::parse("the query", &query)?;
                let index = application.text_search(settings)?;
                let synonyms = application.reader.synonyms(workspace).await?;
                let search = Search::new(query.clone(), RESULTS).with_synonyms(&synonyms);
                let hits = index.search(workspace, search).await?;
                let ids: Vec<FeatureRequestId> = hits.iter().map(|hit| hit.request).collect();
                let results = index.load_results(workspace, &ids).await?;
                let mut titles: HashMap<FeatureRequestId, String> =
                    results.into_iter().map(|result| (result.summary.id, result.summary.title.to_string())).collect();
                // A feature request may have been deleted since.
                let titled = hits.iter().filter_map(|hit| Some((hit, titles.remove(&hit.request)?)));
                let rows: Vec<OutputRow> = titled.map(|(hit, title)| row(hit, title, &query)).collect();
                format.print_many(&rows)
            }
            Self::Reindex { target, format } => {
                let workspace = target.find(&application).await?.id;
                let feature_requests = application.reindex_search().run_workspace(workspace).await?;
                format.print_one(&Reindexed { feature_requests })
            }
        }
    }
}

fn row(hit: &Hit, title: String, query: &SearchQuery) -> OutputRow {
    let explain = |word_match: &WordMatch| {
        let word = query.words().get(word_match.word).map_or("", |word| word.word.surface());
        let WordMatch { field, kind, quality, score, .. } = word_match;
        format!("{word}: {} ({}, {quality:.2}) {score:.2}", field.name(), kind.name())
    };
    OutputRow {
        number: hit.number,
        title,
        votes_count: hit.votes_count,
        score: format!("{:.2}", hit.score),
        coverage: format!("{:.2}", hit.relevance.coverage),
        similarity: format!("{:.2}", hit.relevance.similarity),
        weak: hit.is_weak,
        matches: hit.relevance.matches.iter().map(explain).collect(),
    }
}
