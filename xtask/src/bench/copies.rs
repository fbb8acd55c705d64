//! Copies loaded feature requests in the database, because a million of them would take an hour through the API.
//!
//! A copy has the texts, the track, the author and the number of votes of its original, but no votes of its own: it is for
//! measurements of searches.

use crate::load::Service;

/// Copies each of the `requests` feature requests, so that there are `copies` of it with the original. The service must
/// not run.
pub(crate) fn insert(service: &Service, requests: u64, copies: u64) -> anyhow::Result<()> {
    if copies <= 1 {
        return Ok(());
    }
    let is_server = service.cluster.is_some();
    if is_server {
        service.execute("DROP INDEX search_documents_by_term")?;
    }
    let copy = if is_server { on_postgres } else { on_sqlite };
    for number in 1..copies {
        service.execute(&copy(number * requests, requests))?;
    }
    if is_server {
        service.execute(
            "CREATE INDEX search_documents_by_term ON search_documents USING gin (terms)
             WITH (gin_pending_list_limit = 64)",
        )?;
        service.execute("UPDATE tag_counters SET last_tag_number = (SELECT max(tag_number) FROM feature_requests)")?;
        service.execute("VACUUM ANALYZE")?;
    }
    Ok(())
}

fn on_sqlite(offset: u64, requests: u64) -> String {
    let original = format!("tag_number <= {requests}");
    format!(
        "BEGIN;
         INSERT INTO feature_requests
             (row_number, workspace_id, id, tag_number, title, description, description_text, track_id, author_id,
              private, created_at, updated_at, status_since)
             SELECT row_number + {offset}, workspace_id, randomblob(16), tag_number + {offset}, title, description,
                    description_text, track_id, author_id, private, created_at, updated_at, status_since
             FROM feature_requests WHERE {original};
         INSERT INTO vote_tallies (row_number, workspace_id, request_id, votes_count, trend, track_id, private)
             SELECT copies.row_number, copies.workspace_id, copies.id, votes_count, trend, copies.track_id,
                    copies.private
             FROM feature_requests AS copies JOIN vote_tallies ON vote_tallies.row_number = copies.row_number - {offset}
             WHERE copies.tag_number > {offset};
         INSERT INTO search_documents
             SELECT copies.row_number, copies.workspace_id, copies.id, documents.title, tags, documents.description, version
             FROM feature_requests AS copies
             JOIN search_documents AS documents ON documents.row_number = copies.row_number - {offset}
             WHERE copies.tag_number > {offset};
         INSERT INTO search_index (rowid, title, tags, description)
             SELECT documents.row_number, documents.title, tags, documents.description
             FROM search_documents AS documents JOIN feature_requests USING (row_number) WHERE tag_number > {offset};
         UPDATE tag_counters SET last_tag_number = {offset} + {requests};
         COMMIT;
         PRAGMA wal_checkpoint(TRUNCATE);"
    )
}

fn on_postgres(offset: u64, requests: u64) -> String {
    format!(
        "WITH copies AS (
             INSERT INTO feature_requests
                 (workspace_id, id, tag_number, title, description, description_text, track_id, author_id, private,
                  created_at, updated_at, status_since)
                 SELECT workspace_id, gen_random_uuid(), tag_number + {offset}, title, description, description_text,
                        track_id, author_id, private, created_at, updated_at, status_since
                 FROM feature_requests WHERE tag_number <= {requests}
             RETURNING workspace_id, id, tag_number, track_id, private
         ), tallies AS (
             INSERT INTO vote_tallies (workspace_id, request_id, tag_number, votes_count, trend, track_id, private)
                 SELECT copies.workspace_id, copies.id, copies.tag_number, votes_count, trend, copies.track_id,
                        copies.private
                 FROM copies JOIN vote_tallies ON vote_tallies.tag_number = copies.tag_number - {offset}
         )
         INSERT INTO search_documents (workspace_id, request_id, tag_number, title, tags, description, terms, version)
             SELECT copies.workspace_id, copies.id, copies.tag_number, title, tags, description, terms, version
             FROM copies JOIN search_documents AS documents ON documents.tag_number = copies.tag_number - {offset}"
    )
}
