-- How many votes of a feature request, itself, are those of people of whom nothing is known. Imports write it. The number of
-- votes of a root has those of its tree.
ALTER TABLE vote_tallies ADD COLUMN nameless_votes bigint NOT NULL DEFAULT 0 CHECK (nameless_votes >= 0);

-- Returns the number of these votes of a tree.
CREATE FUNCTION nameless_votes(of_workspace uuid, root uuid) RETURNS bigint
LANGUAGE sql STABLE
AS $$
    SELECT coalesce(sum(tallies.nameless_votes), 0)::bigint FROM (
        SELECT root AS id UNION ALL
        SELECT id FROM feature_requests WHERE workspace_id = of_workspace AND root_id = root
    ) AS members
    JOIN vote_tallies AS tallies ON tallies.workspace_id = of_workspace AND tallies.request_id = members.id
$$;

-- As before, with the votes of people of whom nothing is known.
CREATE OR REPLACE FUNCTION count_trees(of_workspace uuid, roots uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    UPDATE vote_tallies AS tallies
    SET votes_count = counted.votes_count, trend = counted.trend, tree_version = tallies.tree_version + 1
    FROM (
        SELECT tree.root, voters.votes_count + nameless_votes(of_workspace, tree.root) AS votes_count, voters.trend
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
