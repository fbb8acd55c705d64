//! `cargo xtask search-eval`: measures how well searches find what people mean.
//!
//! The service is loaded with the feature requests of `tests/search-eval` through its API, and every judged query and title
//! is sent to it. The same queries are sent to the plain full-text searches of SQLite and PostgreSQL, for comparison.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use anyhow::{Context, ensure};
use diesel::connection::{Connection as _, SimpleConnection};
use diesel::prelude::*;
use diesel::sql_types::Text;
use roadmap_testkit::postgres::{Durability, execute};
use serde::Deserialize;
use serde_json::json;

use crate::load::{Connection, Service, WITHOUT_LIMITS, block_on};
use crate::run::{root, service};
use crate::store::Store;

/// Number of results that are counted.
const RESULTS: usize = 8;

/// Votes that a feature request gets at most. Votes are damped, and more of them take time.
const MAX_VOTES: usize = 20;

/// Minimum recall of the held-out half.
const MIN_RECALL: f64 = 0.85;

/// Minimum recall of the queries in other scripts than Latin, in either half.
const MIN_SCRIPTS_RECALL: f64 = 0.9;

/// Maximum mean number of results of queries for something that is not there, and of similar feature requests of titles that
/// have none.
const MAX_ABSENT: f64 = 2.0;

/// Number of similar feature requests that are counted: all that the service returns.
const SIMILAR: usize = 5;

#[derive(Debug, clap::Args)]
pub(crate) struct SearchEval {
    /// Part of the queries
    #[arg(long, default_value = "held-out")]
    half: Half,
    /// Stores to measure
    #[arg(long, value_delimiter = ',', default_values_t = [Store::Sqlite, Store::Postgres])]
    store: Vec<Store>,
    /// Evaluate this program, such as an older version, and build nothing
    #[arg(long)]
    binary: Option<PathBuf>,
    /// List the queries that miss feature requests
    #[arg(long)]
    misses: bool,
}

/// Part of the queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Half {
    /// The queries that the constants were chosen with
    Tuning,
    /// The other queries
    HeldOut,
}

/// Feature request of the evaluation.
#[derive(Debug, Clone, Deserialize)]
struct Request {
    id: String,
    title: String,
    tags: Vec<String>,
    description: String,
    votes: usize,
}

/// Judged query.
#[derive(Debug, Clone, Deserialize)]
struct Query {
    query: String,
    kind: String,
    relevant: Vec<String>,
    half: String,
}

/// Title of a new feature request, with the existing ones that mean nearly the same.
#[derive(Debug, Clone, Deserialize)]
struct NewTitle {
    title: String,
    kind: String,
    similar: Vec<String>,
    half: String,
}

/// Sums over the queries of a kind.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    queries: f64,
    recall: f64,
    hits: f64,
    reciprocal_rank: f64,
    results: f64,
    empty: f64,
}

impl Sums {
    fn add(&mut self, relevant: &[String], results: &[String]) {
        let count = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
        let matches = relevant.iter().filter(|request| results.contains(request)).count();
        let rank = results.iter().position(|request| relevant.contains(request));
        self.queries += 1.0;
        self.recall += count(matches) / count(relevant.len()).max(1.0);
        self.hits += f64::from(u8::from(matches > 0));
        self.reciprocal_rank += rank.map_or(0.0, |rank| 1.0 / count(rank + 1));
        self.results += count(results.len());
        self.empty += f64::from(u8::from(results.is_empty()));
    }

    fn merge(self, other: Self) -> Self {
        Self {
            queries: self.queries + other.queries,
            recall: self.recall + other.recall,
            hits: self.hits + other.hits,
            reciprocal_rank: self.reciprocal_rank + other.reciprocal_rank,
            results: self.results + other.results,
            empty: self.empty + other.empty,
        }
    }
}

/// Name of the kind of queries for something that is not there.
const ABSENT: &str = "absent";

/// The half of queries that belong to both.
const BOTH_HALVES: &str = "both";

/// Measures that have a bar.
struct Summary {
    /// Recall of the queries in Latin script for something that is there.
    recall: f64,
    /// Recall of the queries in other scripts.
    scripts_recall: f64,
    /// Mean number of results of queries for something that is not there.
    absent_results: f64,
}

impl SearchEval {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let requests: Vec<Request> = read("requests")?;
        let half = match self.half {
            Half::Tuning => "tuning",
            Half::HeldOut => "held_out",
        };
        let is_measured = |query: &Query| query.half == half || query.half == BOTH_HALVES;
        let queries: Vec<Query> = read("queries")?.into_iter().filter(is_measured).collect();
        let titles: Vec<NewTitle> = read("similar")?;
        let is_measured = |title: &NewTitle| title.half == half || title.half == BOTH_HALVES;
        let titles: Vec<NewTitle> = titles.into_iter().filter(is_measured).collect();
        println!("{} feature requests, {} queries ({half}), {} titles", requests.len(), queries.len(), titles.len());
        let binary = self.binary.clone().map_or_else(service, Ok)?;
        let mut missed = Vec::new();
        for store in &self.store {
            let mut service = Service::new(binary.clone(), store.cluster(Durability::None)?)?;
            service.start(&WITHOUT_LIMITS)?;
            let outcome = block_on(search(&service, &requests, &queries, &titles))?;
            let summary = self.print(&format!("{store}: this service"), &queries, &outcome.results);
            if let Some(similar) = &outcome.similar {
                for (kind, unwanted) in self.print_similar(&titles, similar) {
                    if unwanted > MAX_ABSENT {
                        missed.push(format!(
                            "{store}, {kind}: {unwanted:.2} similar ones of nothing alike, at most {MAX_ABSENT}"
                        ));
                    }
                }
            }
            let Summary { recall, scripts_recall, absent_results } = summary;
            if recall < MIN_RECALL {
                missed.push(format!("{store}: recall {recall:.3}, at least {MIN_RECALL}"));
            }
            if scripts_recall < MIN_SCRIPTS_RECALL {
                missed.push(format!(
                    "{store}: recall {scripts_recall:.3} in other scripts, at least {MIN_SCRIPTS_RECALL}"
                ));
            }
            if absent_results > MAX_ABSENT {
                missed.push(format!("{store}: {absent_results:.2} results for absent things, at most {MAX_ABSENT}"));
            }
            match &service.cluster {
                None => self.print("plain bm25 of FTS5, any word", &queries, &bm25(&requests, &queries)?),
                Some(cluster) => {
                    let results = websearch(&cluster.url(), &requests, &queries)?;
                    self.print("plain websearch_to_tsquery", &queries, &results)
                }
            };
        }
        ensure!(self.half == Half::Tuning || missed.is_empty(), "bars were missed:\n{}", missed.join("\n"));
        Ok(())
    }

    /// Prints a table, in which the queries in other scripts than Latin are a group of their own.
    fn print(&self, name: &str, queries: &[Query], results: &[Vec<String>]) -> Summary {
        let (mut kinds, mut scripts): (BTreeMap<&str, Sums>, BTreeMap<&str, Sums>) = Default::default();
        for (query, results) in queries.iter().zip(results) {
            let group = if query.half == BOTH_HALVES { &mut scripts } else { &mut kinds };
            group.entry(&query.kind).or_default().add(&query.relevant, results);
        }
        println!("\n## {name}\n");
        println!("| kind | queries | recall@{RESULTS} | hit rate | MRR | results | without results |");
        println!("|---|---:|---:|---:|---:|---:|---:|");
        let row = |kind: &str, Sums { queries, recall, hits, reciprocal_rank, results, empty }: Sums| {
            let [recall, hits, mrr, empty] = [recall, hits, reciprocal_rank, empty].map(|sum| sum / queries);
            let results = results / queries;
            println!("| {kind} | {queries} | {recall:.3} | {hits:.3} | {mrr:.3} | {results:.2} | {empty:.2} |");
        };
        for (kind, sums) in &kinds {
            row(kind, *sums);
        }
        let present = kinds.iter().filter(|(kind, _)| **kind != ABSENT).map(|(_, sums)| *sums);
        let present = present.fold(Sums::default(), Sums::merge);
        row("**all but absent**", present);
        for (kind, sums) in &scripts {
            row(kind, *sums);
        }
        let in_scripts = scripts.values().copied().fold(Sums::default(), Sums::merge);
        row("**all in other scripts**", in_scripts);
        if self.misses {
            for (query, results) in queries.iter().zip(results) {
                let missing: Vec<&String> = query.relevant.iter().filter(|id| !results.contains(id)).collect();
                if !missing.is_empty() {
                    println!("{}: {:?} misses {missing:?}, found {results:?}", query.kind, query.query);
                }
            }
        }
        let absent = kinds.get(ABSENT).copied().unwrap_or_default();
        Summary {
            recall: present.recall / present.queries,
            scripts_recall: in_scripts.recall / in_scripts.queries,
            absent_results: absent.results / absent.queries,
        }
    }

    /// Prints how many of the similar feature requests are returned for titles that have any, and how many are returned for
    /// titles that have none. Returns the mean of the latter by the kind of the titles.
    fn print_similar<'a>(&self, titles: &'a [NewTitle], similar: &[Vec<String>]) -> BTreeMap<&'a str, f64> {
        let mut kinds: BTreeMap<&str, (Sums, Sums, usize)> = BTreeMap::new();
        for (title, results) in titles.iter().zip(similar) {
            let (with, without, highest) = kinds.entry(&title.kind).or_default();
            if title.similar.is_empty() {
                without.add(&title.similar, results);
                *highest = results.len().max(*highest);
            } else {
                with.add(&title.similar, results);
            }
            if self.misses && *results != title.similar {
                println!("{}: {:?} has {:?}, found {results:?}", title.kind, title.title, title.similar);
            }
        }
        println!(
            "\n| similar ones of titles | titles | recall@{SIMILAR} | hit rate | MRR | of titles without | at most |"
        );
        println!("|---|---:|---:|---:|---:|---:|---:|");
        let mut similar = BTreeMap::new();
        for (kind, (with, without, highest)) in kinds {
            let [recall, hits, mrr] = [with.recall, with.hits, with.reciprocal_rank].map(|sum| sum / with.queries);
            let (count, unwanted) = (with.queries + without.queries, without.results / without.queries);
            println!("| {kind} | {count} | {recall:.3} | {hits:.3} | {mrr:.3} | {unwanted:.2} | {highest} |");
            similar.insert(kind, unwanted);
        }
        similar
    }
}

fn read<T: for<'a> Deserialize<'a>>(name: &str) -> anyhow::Result<Vec<T>> {
    let path = root().join(format!("tests/search-eval/{name}.jsonl"));
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    text.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
}

/// What the service found.
struct SearchOutcome {
    /// The ids of the results of each query.
    results: Vec<Vec<String>>,
    /// The ids of the similar feature requests of each title. `None` without such an endpoint.
    similar: Option<Vec<Vec<String>>>,
}

/// Loads the feature requests and runs the queries.
async fn search(
    service: &Service,
    requests: &[Request],
    queries: &[Query],
    titles: &[NewTitle],
) -> anyhow::Result<SearchOutcome> {
    let mut connection = service.connect().await?;
    let mut ids: HashMap<String, String> = HashMap::new();
    for request in requests {
        let Request { title, tags, description, .. } = request;
        let body = json!({ "feature_request": { "title": title, "tags": tags, "description": description } });
        ensure!(connection.send("POST", "/feature_requests", &body.to_string()).await? == 201, "{}", request.id);
        let id = connection.id()?;
        for voter in 0..request.votes.min(MAX_VOTES) {
            let body = json!({ "customer": { "email": format!("voter{voter}@example.com") } });
            let path = format!("/feature_requests/{id}/upvotes");
            ensure!(connection.send("POST", &path, &body.to_string()).await? == 201, "{}", request.id);
        }
        ids.insert(id, request.id.clone());
    }
    let named = |response_ids: Vec<String>| -> Vec<String> {
        response_ids.iter().filter_map(|id| ids.get(id).cloned()).collect()
    };
    let mut results = Vec::with_capacity(queries.len());
    for query in queries {
        let path = format!("/feature_requests?query={}&per_page={RESULTS}", percent_encoded(&query.query));
        let response_ids = feature_requests(&mut connection, &path).await?.with_context(|| query.query.clone())?;
        results.push(named(response_ids));
    }
    let mut similar = Vec::with_capacity(titles.len());
    for title in titles {
        let path = format!("/feature_requests/similar?title={}", percent_encoded(&title.title));
        similar.push(feature_requests(&mut connection, &path).await?.map(named));
    }
    Ok(SearchOutcome { results, similar: similar.into_iter().collect() })
}

/// Returns the ids of the feature requests of a response, or `None` if there is no such endpoint.
async fn feature_requests(connection: &mut Connection, path: &str) -> anyhow::Result<Option<Vec<String>>> {
    let status = connection.send("GET", path, "").await?;
    if status != 200 {
        ensure!(status == 404 || status == 405, "{path}: {status}");
        return Ok(None);
    }
    connection.ids("feature_requests").map(Some)
}

fn percent_encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[derive(QueryableByName)]
struct Id {
    #[diesel(sql_type = Text)]
    id: String,
}

/// Runs the queries on an FTS5 table with a stemmer: the feature requests with any of the words, by bm25.
fn bm25(requests: &[Request], queries: &[Query]) -> anyhow::Result<Vec<Vec<String>>> {
    let mut connection = SqliteConnection::establish(":memory:")?;
    connection.batch_execute(
        "CREATE VIRTUAL TABLE requests USING fts5 (
             id UNINDEXED, title, tags, description, tokenize = 'porter unicode61 remove_diacritics 2'
         )",
    )?;
    for request in requests {
        diesel::sql_query("INSERT INTO requests VALUES (?, ?, ?, ?)")
            .bind::<Text, _>(&request.id)
            .bind::<Text, _>(&request.title)
            .bind::<Text, _>(request.tags.join(" "))
            .bind::<Text, _>(&request.description)
            .execute(&mut connection)?;
    }
    let mut all = Vec::with_capacity(queries.len());
    for query in queries {
        let words = query.query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let terms: Vec<String> = words.map(|word| format!("\"{word}\"")).collect();
        let rows: Vec<Id> =
            diesel::sql_query("SELECT id FROM requests WHERE requests MATCH ? ORDER BY bm25(requests) LIMIT 8")
                .bind::<Text, _>(terms.join(" OR "))
                .load(&mut connection)?;
        all.push(rows.into_iter().map(|row| row.id).collect());
    }
    Ok(all)
}

/// Runs the queries on PostgreSQL's own search, with its English configuration.
fn websearch(url: &str, requests: &[Request], queries: &[Query]) -> anyhow::Result<Vec<Vec<String>>> {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let rows: Vec<String> = requests
        .iter()
        .map(|request| {
            let text = format!("{} {} {}", request.title, request.tags.join(" "), request.description);
            format!("({}, to_tsvector('english', {}))", quoted(&request.id), quoted(&text))
        })
        .collect();
    let create = "CREATE TABLE public.plain_requests (id text, terms tsvector)";
    execute(url, &format!("{create}; INSERT INTO public.plain_requests VALUES {}", rows.join(", ")))?;
    let mut all = Vec::with_capacity(queries.len());
    for query in queries {
        let words = format!("websearch_to_tsquery('english', {})", quoted(&query.query));
        let rows = execute(
            url,
            &format!(
                "SELECT id FROM public.plain_requests WHERE terms @@ {words} ORDER BY ts_rank(terms, {words}) DESC LIMIT 8"
            ),
        )?;
        all.push(rows.into_iter().flatten().flatten().collect());
    }
    Ok(all)
}
