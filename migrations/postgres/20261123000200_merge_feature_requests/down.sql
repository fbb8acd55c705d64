-- Merged feature requests are independent again, and each counts its own votes.
DROP FUNCTION count_trees(uuid, uuid[]);
DROP FUNCTION lock_trees(uuid, uuid[], uuid, uuid[]);
DROP FUNCTION withdraw_vote(uuid, uuid, bigint, text);
DROP FUNCTION add_vote(uuid, uuid, bigint, uuid, timestamptz, uuid, boolean);
DROP FUNCTION has_voted(uuid, uuid, uuid);
DROP TRIGGER feature_requests_added ON feature_requests;
DROP TRIGGER feature_requests_deleted ON feature_requests;
DROP TRIGGER feature_requests_changed ON feature_requests;
DROP FUNCTION tally_feature_request();
DROP TABLE track_tallies;

UPDATE vote_tallies SET votes_count = (
    SELECT count(*) FROM votes
    WHERE votes.workspace_id = vote_tallies.workspace_id AND votes.request_id = vote_tallies.request_id
) WHERE tree_version > 0;

DROP INDEX vote_tallies_by_track;
ALTER TABLE vote_tallies DROP COLUMN track_id;
ALTER TABLE vote_tallies DROP COLUMN private;
ALTER TABLE vote_tallies DROP COLUMN root_id;
ALTER TABLE vote_tallies DROP COLUMN tree_version;

DROP INDEX feature_requests_by_update;
DROP INDEX feature_requests_by_track;
CREATE INDEX feature_requests_by_track ON feature_requests (workspace_id, track_id);
ALTER TABLE feature_requests DROP COLUMN was_merged;
ALTER TABLE feature_requests DROP COLUMN updated_at;
ALTER TABLE feature_requests DROP COLUMN root_id;
ALTER TABLE feature_requests DROP COLUMN merged_into_id;

-- Adds a vote unless the customer has voted before, and tells the number of votes after it.
--
-- These are statements of their own inside of the one that calls. What the vote refers to is looked up
-- before the tally is held, and not after. Who has waited for the tally's row sets up the statement once
-- more to look at the row again, which is this small one. And a vote that was waited for is counted,
-- although the calling statement does not see it.
CREATE FUNCTION add_vote(
    of_workspace uuid, of_request uuid, of_customer uuid, at timestamptz, OUT is_new boolean, OUT counted bigint
)
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at)
    VALUES (of_workspace, of_request, of_customer, true, at)
    ON CONFLICT (workspace_id, request_id, customer_id) DO NOTHING;
    is_new := FOUND;
    IF is_new THEN
        UPDATE vote_tallies SET votes_count = votes_count + 1
        WHERE workspace_id = of_workspace AND request_id = of_request
        RETURNING votes_count INTO counted;
    ELSE
        SELECT votes_count FROM vote_tallies
        WHERE workspace_id = of_workspace AND request_id = of_request
        INTO counted;
    END IF;
END
$$;
