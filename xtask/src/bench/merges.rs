//! Merges of feature requests with many votes, and what other requests notice of them.

use std::cell::Cell;
use std::time::{Duration, Instant};

use futures_util::future::try_join;
use rand::SeedableRng;
use rand::rngs::SmallRng;

use super::corpus::Corpus;
use super::report::print_times;
use super::workloads::upvote;
use crate::load::{Latencies, Service, block_on};

pub(super) const NAME: &str = "merges";

/// Votes of each of the two feature requests that are merged. A quarter of the customers voted for both.
const VOTES: u64 = 10_000;

/// Highest time of a merge, and of any other request meanwhile, in milliseconds.
const TARGET: f64 = 200.0;

/// Merges and unmerges two feature requests with many votes, while another connection votes for others.
pub(super) fn measure(service: &Service, corpus: &Corpus) -> anyhow::Result<()> {
    let (merges, longest) = block_on(async {
        let mut connection = service.connect().await?;
        let mut create = async |number: u64| {
            let (method, path, body) = corpus.create(number);
            connection.expect(method, &path, &body, 201).await?;
            connection.id()
        };
        let (source, target) = (&create(corpus.requests).await?, &create(corpus.requests + 1).await?);
        service
            .fill(0..2 * VOTES, async |connection, number| {
                let (request, customer) = match number.checked_sub(VOTES) {
                    None => (source, number),
                    Some(number) => (target, number + VOTES * 3 / 4),
                };
                let body = format!(r#"{{"customer":{{"email":"merged{customer}@example.com"}}}}"#);
                connection.expect("POST", &format!("/feature_requests/{request}/upvotes"), &body, 201).await
            })
            .await?;
        let is_done = Cell::new(false);
        let merging = async {
            let (mut connection, mut merges) = (service.connect().await?, Vec::new());
            for _ in 0..20 {
                let body = format!(r#"{{"target_id":"{target}"}}"#);
                for (path, body) in [("merge", body.as_str()), ("unmerge", "{}")] {
                    let began = Instant::now();
                    connection.expect("POST", &format!("/feature_requests/{source}/{path}"), body, 200).await?;
                    merges.push(began.elapsed());
                }
            }
            is_done.set(true);
            anyhow::Ok(Latencies::from_iter(merges))
        };
        let others = async {
            let (mut connection, mut longest) = (service.connect().await?, Duration::ZERO);
            let mut random = SmallRng::seed_from_u64(1);
            while !is_done.get() {
                let (method, path, body) = upvote(corpus, &mut random);
                let began = Instant::now();
                connection.expect(method, &path, &body, 201).await?;
                longest = longest.max(began.elapsed());
            }
            anyhow::Ok(longest)
        };
        try_join(merging, others).await
    })?;
    let title = format!("{NAME} of two feature requests of {VOTES} votes each");
    print_times(&title, "merge or unmerge, ", &merges, TARGET);
    let longest = longest.as_secs_f64() * 1e3;
    println!("| slowest upvote of another feature request meanwhile | {longest:.0} | {TARGET} |");
    Ok(())
}
