//! Data that is loaded through the API, and what requests need to know of it.

use anyhow::{Context, ensure};
use serde_json::Value;

use super::corpus::Corpus;
use super::workloads::{COMMENT, COMMENTED};
use crate::load::{Connection, HOST, Service, block_on};

/// Number of the comments of each feature request that has comments.
const COMMENTS_EACH: u64 = 30;

/// Creates the feature requests.
pub(crate) fn load_requests(service: &Service, corpus: &Corpus) -> anyhow::Result<()> {
    block_on(service.fill(0..corpus.requests, async |connection, number| {
        let (method, path, body) = corpus.create(number);
        connection.expect(method, &path, &body, 201).await
    }))
}

/// Votes, mostly for popular feature requests.
pub(crate) fn load_votes(service: &Service, corpus: &Corpus, votes: u64) -> anyhow::Result<()> {
    block_on(service.fill(0..votes, async |connection, number| {
        let (customer, request) = corpus.vote(number);
        let body = format!(r#"{{"customer":{{"email":"customer{customer}@example.com"}}}}"#);
        connection.expect("POST", &format!("/feature_requests/{request}/upvotes"), &body, 201).await
    }))
}

/// Comments on the first feature requests.
pub(crate) fn load_comments(service: &Service, corpus: &Corpus) -> anyhow::Result<()> {
    let comments = COMMENTED.min(corpus.requests) * COMMENTS_EACH;
    block_on(service.fill(0..comments, async |connection, number| {
        let path = format!("/feature_requests/{}/comments", number / COMMENTS_EACH + 1);
        connection.expect("POST", &path, COMMENT, 201).await
    }))
}

/// Spreads the feature requests over the tracks. Two of three get into a lane.
pub(super) fn load_lanes(service: &Service, corpus: &Corpus) -> anyhow::Result<()> {
    block_on(async {
        let tracks = tracks(&mut service.connect().await?).await?;
        service
            .fill(0..corpus.requests, async |connection, number| {
                let track = tracks.get(usize::try_from(number)? % tracks.len()).context("there is no track")?;
                let path = format!("/feature_requests/{}/track", number + 1);
                connection.expect("PATCH", &path, &format!(r#"{{"track_id":"{track}"}}"#), 200).await
            })
            .await
    })
}

/// Returns the ids of the tracks.
pub(super) async fn tracks(connection: &mut Connection) -> anyhow::Result<Vec<String>> {
    connection.expect("GET", "/tracks", "", 200).await?;
    connection.ids("tracks")
}

/// Loads the paths of the pages of feature requests from the sitemap. A build without pages has none.
pub(super) fn load_pages(service: &mut Service) -> anyhow::Result<()> {
    block_on(async {
        let mut connection = service.connect().await?;
        if connection.request("GET", "/sitemap-1.xml", "").await? == 200 {
            let sitemap = connection.text();
            let paths = sitemap.split("/feature_requests/").skip(1).filter_map(|rest| rest.split('<').next());
            // Other services have the same feature requests, but perhaps under other numbers.
            service.pages = paths.map(|slug| format!("/feature_requests/{slug}")).collect();
        }
        Ok(())
    })
}

/// Signs in as a member, for the pages of the admin panel.
pub(super) fn sign_in(service: &mut Service) -> anyhow::Result<()> {
    let address = "bench@example.com";
    service.roadmap(&["member", "add", "--workspace", "bench", "--email", address, "--name", "Bench"])?;
    let link = service.roadmap(&["sign-in", "link", "--workspace", "bench", "--email", address])?;
    let url = link.get("url").and_then(Value::as_str).context("no link")?;
    let (_, rest) = url.split_once("://").context("no URL")?;
    let (_, path) = rest.split_once('/').context("no path")?;
    // The command does not know the port of the service.
    let origin = format!("http://{HOST}:{}", service.port()?);
    block_on(async {
        let mut connection = service.connect().await?;
        let headers = format!("Origin: {origin}\r\n");
        let status = connection.request_with("POST", &format!("/{path}"), &headers, "choice=only").await?;
        ensure!(status == 303, "signing in returned {status}");
        service.session = format!("Cookie: {}\r\n{headers}", connection.cookies());
        Ok(())
    })
}
