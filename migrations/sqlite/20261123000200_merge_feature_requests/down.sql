-- Audiences name their feature request again.
UPDATE outbox SET payload = json_set(outbox.payload, '$.request', (
    SELECT lower(substr(hex(request_id), 1, 8) || '-' || substr(hex(request_id), 9, 4) || '-' ||
                 substr(hex(request_id), 13, 4) || '-' || substr(hex(request_id), 17, 4) || '-' ||
                 substr(hex(request_id), 21))
    FROM comments WHERE comments.workspace_id = outbox.workspace_id
      AND comments.id = unhex(outbox.payload ->> 'comment', '-')
)) WHERE kind = 'comment_audience';

-- Merged feature requests stand for themselves again.
DROP TRIGGER feature_requests_deleted;
DROP TRIGGER feature_requests_updated;
DROP TRIGGER feature_requests_inserted;
DROP TABLE track_tallies;

DROP INDEX vote_tallies_by_track;
ALTER TABLE vote_tallies DROP COLUMN root_id;
ALTER TABLE vote_tallies DROP COLUMN private;
ALTER TABLE vote_tallies DROP COLUMN track_id;

UPDATE vote_tallies SET votes_count = (
    SELECT count(*) FROM votes
    WHERE votes.workspace_id = vote_tallies.workspace_id AND votes.request_id = vote_tallies.request_id
);

DROP INDEX feature_requests_by_update;
DROP INDEX feature_requests_by_track;
CREATE INDEX feature_requests_by_track ON feature_requests (workspace_id, track_id);
DROP INDEX feature_requests_by_parent;
DROP INDEX feature_requests_by_root;
ALTER TABLE feature_requests DROP COLUMN updated_at;
ALTER TABLE feature_requests DROP COLUMN root_id;
ALTER TABLE feature_requests DROP COLUMN merged_into_id;
