//! Finds public feature requests by words.
//!
//! How many requests match decides the way. A word that few requests have is looked up in the index.
//! Of a word that many have, only the most voted matches are wanted, and walking the requests from
//! the most voted down soon has enough of them. When it has not, because all that match have few votes, the
//! newest matches are taken. Whichever way, the rows that are looked at are bounded.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{BigInt, Integer, Nullable, Text, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::{FeatureRequestSummary, FoundFeatureRequest};
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::model::search::{QueryWord, SearchDocument, SearchQuery};
use roadmap_domain::policy::ranking::{Candidate, relevance};
use roadmap_domain::policy::search_budget::{MAX_SCANNED_ROWS, PROBE_ROWS, should_continue_scan};
use roadmap_domain::ports::TextSearch;
use uuid::Uuid;

use crate::PostgresReader;
use crate::rows::{SummaryRow, placed_requests, summary_columns};
use crate::schema::feature_requests;
use crate::session::Session;
use crate::statement::statement;
use crate::writes::{any_place, title_place};

/// How many candidates are enough to pick the best fifteen of. Also how many of those whose title
/// matches.
const CANDIDATE_LIMIT: i64 = 60;

/// How many rows are looked at: from the most voted down, in the last step of votes, and from the newest back.
#[expect(clippy::cast_possible_wrap, reason = "a small constant")]
const SCAN_LIMIT: i64 = MAX_SCANNED_ROWS as i64;

/// How many of them are looked at before it is known whether the rest is worthwhile.
#[expect(clippy::cast_possible_wrap, reason = "a small constant")]
const FIRST_SCAN_LIMIT: i64 = PROBE_ROWS as i64;

/// The first step of votes that stands for more than one count.
const FIRST_WIDE_TIER: i32 = 16;

/// How many similar words are looked at.
const SIMILAR_WORDS: i64 = 50;

statement! {
    /// The most voted of the requests that the index knows to match; one row without a request when
    /// walking is the better way.
    Matches { workspace: Uuid => SqlUuid, query: String => Text, enough: i64 => BigInt }
        -> Nullable<(SqlUuid, BigInt, BigInt, Integer, Text, Text, Text)>,
    "SELECT request_id, tag_number, votes_count, tier, title, tags, description
     FROM search_matches({workspace}, {query}::tsquery, {enough})"
}

statement! {
    /// Matches by walking down the steps of votes, from below one, until there are enough or so many rows have
    /// been looked at.
    WalkDown {
        workspace: Uuid => SqlUuid,
        query: String => Text,
        from_tier: i32 => Integer,
        from_number: i64 => BigInt,
        to_tier: i32 => Integer,
        scan_limit: i64 => BigInt,
        enough: i64 => BigInt,
    } -> (SqlUuid, BigInt, BigInt, Integer, Text, Text, Text),
    "SELECT request_id, tag_number, votes_count, tier, title, tags, description
     FROM search_walk({workspace}, {query}::tsquery, {from_tier}, {from_number}, {to_tier}, {scan_limit}, {enough})"
}

statement! {
    /// The newest matches among so many of the newest requests.
    NewestMatches { workspace: Uuid => SqlUuid, query: String => Text, scan_limit: i64 => BigInt, enough: i64 => BigInt }
        -> (SqlUuid, BigInt, BigInt, Integer, Text, Text, Text),
    "SELECT request_id, tag_number, votes_count, tier, title, tags, description
     FROM search_newest({workspace}, {query}::tsquery, {scan_limit}, {enough})"
}

statement! {
    /// Any matches, as the index has them.
    AnyMatches { workspace: Uuid => SqlUuid, query: String => Text, enough: i64 => BigInt }
        -> (SqlUuid, BigInt, BigInt, Integer, Text, Text, Text),
    "SELECT request_id, tag_number, votes_count, tier, title, tags, description
     FROM search_any({workspace}, {query}::tsquery, {enough})"
}

statement! {
    /// The words that are most like one.
    SimilarWords { workspace: Uuid => SqlUuid, word: String => Text, most: i64 => BigInt } -> Text,
    "SELECT word FROM search_similar_words({workspace}, {word}, {most})"
}

/// Request, number, votes, their step, and the terms of title, tags and description.
type CandidateRow = (Uuid, i64, i64, i32, String, String, String);

/// Where the words of a query must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fields {
    Any,
    Title,
}

/// Whether the requests may be walked down from the most voted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Walk {
    Allowed,
    /// One has looked at as many rows as a search may, and found too few.
    Exhausted,
}

#[async_trait]
impl TextSearch for PostgresReader {
    async fn candidates(&self, workspace: WorkspaceId, query: &SearchQuery) -> Result<Vec<Candidate>, StoreError> {
        let session = Session::autocommit(&self.searches, workspace).await?;
        let (mut candidates, walk) = most_voted(&session, workspace, query, Fields::Any, Walk::Allowed).await?;
        if candidates.len() >= usize::try_from(CANDIDATE_LIMIT).unwrap_or(usize::MAX) {
            // Some with a matching title may have too few votes to be among them.
            let known: Vec<FeatureRequestId> = candidates.iter().map(|candidate| candidate.request).collect();
            let (titled, _) = most_voted(&session, workspace, query, Fields::Title, walk).await?;
            candidates.extend(titled.into_iter().filter(|candidate| !known.contains(&candidate.request)));
        }
        Ok(candidates)
    }

    async fn similar_words(&self, workspace: WorkspaceId, word: &str) -> Result<Vec<String>, StoreError> {
        let session = Session::autocommit(&self.searches, workspace).await?;
        let similar = SimilarWords { workspace: workspace.uuid(), word: word.to_owned(), most: SIMILAR_WORDS };
        session.run(similar.load(&mut session.connection()?)).await
    }

    async fn load_results(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<FoundFeatureRequest>, StoreError> {
        let session = self.session(workspace).await?;
        let ids: Vec<Uuid> = requests.iter().map(|request| request.uuid()).collect();
        let found = placed_requests()
            .filter(feature_requests::workspace_id.eq(workspace.uuid()))
            .filter(feature_requests::id.eq_any(&ids))
            .filter(feature_requests::private.eq(false))
            .select((summary_columns(), feature_requests::description_text));
        let mut rows: Vec<(SummaryRow, String)> = session.run(found.load(&mut session.connection()?)).await?;
        rows.sort_by_key(|(row, _)| ids.iter().position(|id| *id == row.id));
        rows.into_iter()
            .map(|(row, description)| {
                Ok(FoundFeatureRequest { summary: FeatureRequestSummary::try_from(row)?, description })
            })
            .collect()
    }
}

/// The most voted requests in whose `fields` every word of the query matches, and whether another walk is allowed.
async fn most_voted(
    session: &Session,
    workspace: WorkspaceId,
    query: &SearchQuery,
    fields: Fields,
    mut walk: Walk,
) -> Result<(Vec<Candidate>, Walk), StoreError> {
    let terms = match_terms(workspace, query, fields);
    let matches = Matches { workspace: workspace.uuid(), query: terms.clone(), enough: CANDIDATE_LIMIT };
    let rows: Vec<Option<CandidateRow>> = session.run(matches.load(&mut session.connection()?)).await?;
    let rows: Option<Vec<CandidateRow>> = rows.into_iter().collect();
    let rows = match rows {
        Some(rows) => rows,
        None => {
            let mut rows = match walk {
                Walk::Allowed => walk_down(session, workspace, terms.clone()).await?,
                Walk::Exhausted => Vec::new(),
            };
            if !has_enough(&rows) {
                walk = Walk::Exhausted;
                add_newest(session, workspace, terms, &mut rows).await?;
            }
            rows
        }
    };
    Ok((rows.into_iter().filter_map(|row| candidate(row, query, fields)).collect(), walk))
}

fn has_enough(rows: &[CandidateRow]) -> bool {
    rows.len() >= usize::try_from(CANDIDATE_LIMIT).unwrap_or(usize::MAX)
}

/// Adds the newest matches, and when these are few, too, any matches.
async fn add_newest(
    session: &Session,
    workspace: WorkspaceId,
    query: String,
    rows: &mut Vec<CandidateRow>,
) -> Result<(), StoreError> {
    let add = |rows: &mut Vec<CandidateRow>, more: Vec<CandidateRow>| {
        for row in more {
            if !rows.iter().any(|(request, ..)| *request == row.0) {
                rows.push(row);
            }
        }
    };
    let workspace = workspace.uuid();
    let newest = NewestMatches { workspace, query: query.clone(), scan_limit: SCAN_LIMIT, enough: CANDIDATE_LIMIT };
    add(rows, session.run(newest.load(&mut session.connection()?)).await?);
    if !has_enough(rows) {
        let any = AnyMatches { workspace, query, enough: CANDIDATE_LIMIT };
        add(rows, session.run(any.load(&mut session.connection()?)).await?);
    }
    Ok(())
}

/// The query in the language of the index: every word, each as any of its forms, the last also as
/// the beginning of a word. Terms are lower-case ASCII letters and digits (`Word`), so that none can
/// be taken for syntax.
fn match_terms(workspace: WorkspaceId, query: &SearchQuery, fields: Fields) -> String {
    let place = match fields {
        Fields::Any => any_place(workspace.uuid()),
        Fields::Title => title_place(workspace.uuid()),
    };
    let words: Vec<String> = query
        .words()
        .iter()
        .map(|QueryWord { alternatives, matches_prefix }| {
            let mut forms: Vec<String> = Vec::new();
            for word in alternatives {
                // The beginning of a word covers the word itself.
                let prefix = if *matches_prefix { ":*" } else { "" };
                forms.push(format!("'{place}{}'{prefix}", word.surface()));
                if word.stem() != word.surface() {
                    forms.push(format!("'{place}{}'", word.stem()));
                }
            }
            format!("({})", forms.join(" | "))
        })
        .collect();
    words.join(" & ")
}

/// The most voted matches. The last of them may be of a step that stands for several counts: then
/// others of that step may have more votes, and are looked at too.
async fn walk_down(session: &Session, workspace: WorkspaceId, query: String) -> Result<Vec<CandidateRow>, StoreError> {
    let mut walk = WalkDown {
        workspace: workspace.uuid(),
        query,
        from_tier: i32::MAX,
        from_number: i64::MAX,
        to_tier: 0,
        scan_limit: FIRST_SCAN_LIMIT,
        enough: CANDIDATE_LIMIT,
    };
    let mut rows: Vec<CandidateRow> = session.run(walk.clone().load(&mut session.connection()?)).await?;
    if !has_enough(&rows) {
        if !should_continue_scan(rows.len()) {
            return Ok(rows);
        }
        walk.scan_limit = SCAN_LIMIT;
        rows = session.run(walk.clone().load(&mut session.connection()?)).await?;
    }
    if let Some((_, number, _, tier, ..)) = rows.last()
        && *tier >= FIRST_WIDE_TIER
        && has_enough(&rows)
    {
        (walk.from_tier, walk.from_number, walk.to_tier) = (*tier, *number, *tier);
        (walk.scan_limit, walk.enough) = (SCAN_LIMIT, SCAN_LIMIT);
        let rest: Vec<CandidateRow> = session.run(walk.load(&mut session.connection()?)).await?;
        rows.extend(rest);
    }
    rows.sort_by_key(|(_, number, votes_count, ..)| std::cmp::Reverse((*votes_count, *number)));
    rows.truncate(usize::try_from(CANDIDATE_LIMIT).unwrap_or(usize::MAX));
    Ok(rows)
}

/// The row as a candidate, if every word of the query is in its `fields`.
fn candidate(row: CandidateRow, query: &SearchQuery, fields: Fields) -> Option<Candidate> {
    let (request, tag_number, votes_count, _, title, tags, description) = row;
    let document = SearchDocument { title, tags, description };
    if fields == Fields::Title {
        relevance(query, &document.title_only())?;
    }
    Some(Candidate {
        request: FeatureRequestId::new(request),
        tag_number,
        votes_count,
        relevance: relevance(query, &document)?,
    })
}
