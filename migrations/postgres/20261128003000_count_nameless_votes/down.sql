-- Nothing else knows of these votes.
UPDATE vote_tallies SET votes_count = votes_count - counted.nameless FROM (
    SELECT workspace_id, coalesce(root_id, request_id) AS root, sum(nameless_votes) AS nameless
    FROM vote_tallies WHERE nameless_votes > 0 GROUP BY 1, 2
) AS counted
WHERE counted.workspace_id = vote_tallies.workspace_id AND counted.root = vote_tallies.request_id;

CREATE OR REPLACE FUNCTION count_trees(of_workspace uuid, roots uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    UPDATE vote_tallies AS tallies
    SET votes_count = counted.votes_count, trend = counted.trend, tree_version = tallies.tree_version + 1
    FROM (
        SELECT tree.root, voters.votes_count, voters.trend
        FROM unnest(roots) AS tree (root)
        CROSS JOIN LATERAL (
            SELECT count(*) AS votes_count, coalesce(sum(vote_weight(voted_at)), 0) AS trend FROM (
                SELECT min(votes.created_at) AS voted_at FROM (
                    SELECT tree.root AS id UNION ALL
                    SELECT id FROM feature_requests WHERE workspace_id = of_workspace AND root_id = tree.root
                ) AS members
                JOIN votes ON votes.workspace_id = of_workspace AND votes.request_id = members.id
                GROUP BY votes.customer_id
            ) AS first_votes
        ) AS voters
    ) AS counted
    WHERE tallies.workspace_id = of_workspace AND tallies.request_id = counted.root;
    PERFORM count_companies(of_workspace, roots);
    UPDATE vote_tallies SET tree_version = tree_version + 1
    WHERE workspace_id = of_workspace AND request_id IN (
        SELECT id FROM feature_requests WHERE workspace_id = of_workspace AND root_id = ANY (roots)
    );
END
$$;

DROP FUNCTION nameless_votes(uuid, uuid);
ALTER TABLE vote_tallies DROP COLUMN nameless_votes;
