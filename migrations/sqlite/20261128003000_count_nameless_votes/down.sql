-- Nothing else knows of these votes.
UPDATE vote_tallies SET votes_count = votes_count - counted.nameless FROM (
    SELECT workspace_id, coalesce(root_id, request_id) AS root, sum(nameless_votes) AS nameless
    FROM vote_tallies WHERE nameless_votes > 0 GROUP BY 1, 2
) AS counted
WHERE counted.workspace_id = vote_tallies.workspace_id AND counted.root = vote_tallies.request_id;
ALTER TABLE vote_tallies DROP COLUMN nameless_votes;
