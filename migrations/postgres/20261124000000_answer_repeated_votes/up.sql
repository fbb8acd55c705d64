-- Adds a vote to the root of a feature request, unless the customer has voted before for anything in its tree. Returns
-- the number of votes after it, and the root.
--
-- These are statements of their own inside of the calling one, each of which sees what was committed before it. What
-- the vote refers to is looked up before the tally is locked, and not after. A vote that waits for the tally's row
-- evaluates one small statement again. And a vote that was waited for is counted, although the calling statement does
-- not see it.
--
-- Whoever merges or unmerges locks all tallies of both trees, counts the votes again and increments their versions. So
-- the vote counts only if the tally has the same version as before; otherwise it is taken back and begins anew. A tally
-- that it has waited for stays locked until the transaction ends, also if it had another version then. The version of a
-- feature request that was never part of a merge is 0, so that a vote for it reads no tally but the one that it changes.
--
-- That a tally is of a root is asked without `IS NULL`, so that no partial index of all roots looks as good as the
-- primary key while the table is small.
--
-- A repeated vote reads the number of votes only together with the earlier vote. Read alone, it could be the number after
-- that vote was withdrawn.
CREATE OR REPLACE FUNCTION add_vote(
    of_workspace uuid, of_request uuid, of_number bigint, of_customer uuid, at timestamptz,
    seen_root uuid, was_merged boolean, OUT is_new boolean, OUT counted bigint, OUT root uuid
)
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
    version bigint := 0;
BEGIN
    root := seen_root;
    LOOP
        is_new := true;
        IF was_merged THEN
            SELECT tallies.request_id, tallies.tree_version FROM vote_tallies AS tallies
            WHERE tallies.workspace_id = of_workspace AND tallies.request_id = (SELECT coalesce(
                (SELECT coalesce(root_id, id) FROM feature_requests
                 WHERE workspace_id = of_workspace AND id = of_request),
                (SELECT coalesce(root_id, id) FROM feature_requests
                 WHERE workspace_id = of_workspace AND tag_number = of_number)
            ))
            INTO root, version;
            IF NOT FOUND THEN
                RAISE foreign_key_violation USING MESSAGE = 'the feature request of the vote was deleted';
            END IF;
            is_new := NOT EXISTS (
                SELECT FROM feature_requests AS member
                JOIN votes ON votes.workspace_id = of_workspace AND votes.request_id = member.id
                          AND votes.customer_id = of_customer
                WHERE member.workspace_id = of_workspace AND member.root_id = root
            );
        END IF;
        IF is_new THEN
            INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at)
            VALUES (of_workspace, root, of_customer, true, at)
            ON CONFLICT (workspace_id, request_id, customer_id) DO NOTHING;
            is_new := FOUND;
        END IF;
        IF is_new THEN
            UPDATE vote_tallies SET votes_count = votes_count + 1
            WHERE workspace_id = of_workspace AND request_id = root AND tree_version = version
              AND coalesce(root_id, root) = root
            RETURNING votes_count INTO counted;
            IF FOUND THEN
                RETURN;
            END IF;
            DELETE FROM votes WHERE workspace_id = of_workspace AND request_id = root AND customer_id = of_customer;
        ELSE
            SELECT votes_count FROM vote_tallies
            WHERE workspace_id = of_workspace AND request_id = root AND tree_version = version
              AND coalesce(root_id, root) = root AND (
                EXISTS (
                    SELECT FROM votes
                    WHERE workspace_id = of_workspace AND request_id = root AND customer_id = of_customer
                ) OR EXISTS (
                    SELECT FROM feature_requests AS member
                    JOIN votes ON votes.workspace_id = of_workspace AND votes.request_id = member.id
                              AND votes.customer_id = of_customer
                    WHERE member.workspace_id = of_workspace AND member.root_id = root
                )
            )
            INTO counted;
            IF FOUND THEN
                RETURN;
            END IF;
        END IF;
        was_merged := true;
    END LOOP;
END
$$;
