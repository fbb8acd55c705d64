-- A merge is a link. `merged_into_id` is what a feature request was merged into, `root_id` where that leads to in the
-- end. NULL: it is not merged.
ALTER TABLE feature_requests ADD COLUMN merged_into_id uuid;
ALTER TABLE feature_requests ADD COLUMN root_id uuid;
ALTER TABLE feature_requests ADD COLUMN updated_at timestamptz;
-- Whether it was ever part of a merge. Only then its tally has a version other than 0.
ALTER TABLE feature_requests ADD COLUMN was_merged boolean NOT NULL DEFAULT false;
UPDATE feature_requests SET updated_at = created_at;
ALTER TABLE feature_requests ALTER COLUMN updated_at SET NOT NULL;
ALTER TABLE feature_requests
    ADD FOREIGN KEY (workspace_id, merged_into_id) REFERENCES feature_requests (workspace_id, id);
ALTER TABLE feature_requests ADD FOREIGN KEY (workspace_id, root_id) REFERENCES feature_requests (workspace_id, id);

CREATE INDEX feature_requests_by_root ON feature_requests (workspace_id, root_id) WHERE root_id IS NOT NULL;
CREATE INDEX feature_requests_by_target ON feature_requests (workspace_id, merged_into_id)
WHERE merged_into_id IS NOT NULL;
-- The lists of a track, newest first and last updated first.
DROP INDEX feature_requests_by_track;
CREATE INDEX feature_requests_by_track ON feature_requests (workspace_id, track_id, tag_number);
CREATE INDEX feature_requests_by_update ON feature_requests (workspace_id, track_id, updated_at, tag_number);

-- Copies of columns of the feature request, so that an index has the most voted of a track.
ALTER TABLE vote_tallies ADD COLUMN track_id uuid;
ALTER TABLE vote_tallies ADD COLUMN private boolean;
ALTER TABLE vote_tallies ADD COLUMN root_id uuid;
-- Counts the changes of the tree that the feature request is or was part of. A vote compares it.
ALTER TABLE vote_tallies ADD COLUMN tree_version bigint NOT NULL DEFAULT 0;
UPDATE vote_tallies SET track_id = feature_requests.track_id, private = feature_requests.private
FROM feature_requests
WHERE feature_requests.workspace_id = vote_tallies.workspace_id AND feature_requests.id = vote_tallies.request_id;
ALTER TABLE vote_tallies ALTER COLUMN track_id SET NOT NULL;
ALTER TABLE vote_tallies ALTER COLUMN private SET NOT NULL;

-- The tier instead of the count, so that most votes touch no index.
CREATE INDEX vote_tallies_by_track ON vote_tallies (workspace_id, track_id, tier, tag_number) WHERE root_id IS NULL;

-- The number of feature requests on each track, and of the public ones, without merged ones.
CREATE TABLE track_tallies (
    workspace_id uuid NOT NULL,
    track_id uuid NOT NULL,
    all_count bigint NOT NULL,
    public_count bigint NOT NULL,
    PRIMARY KEY (workspace_id, track_id),
    FOREIGN KEY (workspace_id, track_id) REFERENCES tracks (workspace_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50);

INSERT INTO track_tallies (workspace_id, track_id, all_count, public_count)
SELECT workspace_id, track_id, count(*), count(*) FILTER (WHERE NOT private)
FROM feature_requests GROUP BY workspace_id, track_id;

ALTER TABLE track_tallies ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON track_tallies USING (workspace_id = (SELECT current_workspace()));

-- Keeps the tallies of tracks exact, and the copies in `vote_tallies`. Two tracks are changed in the order of their IDs,
-- so that opposite moves do not wait for each other in a circle.
CREATE FUNCTION tally_feature_request() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.root_id IS NULL THEN
            INSERT INTO track_tallies AS tallies (workspace_id, track_id, all_count, public_count)
            VALUES (NEW.workspace_id, NEW.track_id, 1, (NOT NEW.private)::integer)
            ON CONFLICT (workspace_id, track_id) DO UPDATE
            SET all_count = tallies.all_count + 1, public_count = tallies.public_count + excluded.public_count;
        END IF;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' THEN
        IF OLD.root_id IS NULL THEN
            UPDATE track_tallies
            SET all_count = all_count - 1, public_count = public_count - (NOT OLD.private)::integer
            WHERE workspace_id = OLD.workspace_id AND track_id = OLD.track_id;
        END IF;
        RETURN NULL;
    END IF;
    UPDATE vote_tallies SET track_id = NEW.track_id, private = NEW.private, root_id = NEW.root_id
    WHERE workspace_id = NEW.workspace_id AND request_id = NEW.id;
    INSERT INTO track_tallies AS tallies (workspace_id, track_id, all_count, public_count)
    SELECT NEW.workspace_id, changed.track_id, sum(changed.all_count), sum(changed.public_count)
    FROM (
        SELECT OLD.track_id, -1, -(NOT OLD.private)::integer WHERE OLD.root_id IS NULL
        UNION ALL
        SELECT NEW.track_id, 1, (NOT NEW.private)::integer WHERE NEW.root_id IS NULL
    ) AS changed (track_id, all_count, public_count)
    GROUP BY changed.track_id HAVING sum(changed.all_count) <> 0 OR sum(changed.public_count) <> 0
    ORDER BY changed.track_id
    ON CONFLICT (workspace_id, track_id) DO UPDATE
    SET all_count = tallies.all_count + excluded.all_count, public_count = tallies.public_count + excluded.public_count;
    RETURN NULL;
END
$$;

CREATE TRIGGER feature_requests_added AFTER INSERT ON feature_requests
FOR EACH ROW EXECUTE FUNCTION tally_feature_request();
CREATE TRIGGER feature_requests_deleted AFTER DELETE ON feature_requests
FOR EACH ROW EXECUTE FUNCTION tally_feature_request();
CREATE TRIGGER feature_requests_changed AFTER UPDATE OF track_id, private, root_id ON feature_requests
FOR EACH ROW WHEN ((OLD.track_id, OLD.private, OLD.root_id) IS DISTINCT FROM (NEW.track_id, NEW.private, NEW.root_id))
EXECUTE FUNCTION tally_feature_request();

DROP FUNCTION add_vote(uuid, uuid, uuid, timestamptz);

-- Whether a customer has voted for anything in the tree of a root: a customer is counted once per tree. A statement that
-- asks this sees the votes in the same state as everything else that it reads.
CREATE FUNCTION has_voted(of_workspace uuid, of_root uuid, of_customer uuid) RETURNS boolean
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM votes WHERE workspace_id = of_workspace AND request_id = of_root AND customer_id = of_customer
    ) OR EXISTS (
        SELECT FROM feature_requests AS member
        JOIN votes ON votes.workspace_id = of_workspace AND votes.request_id = member.id
                  AND votes.customer_id = of_customer
        WHERE member.workspace_id = of_workspace AND member.root_id = of_root
    );
END
$$;

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
CREATE FUNCTION add_vote(
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
            is_new := NOT has_voted(of_workspace, root, of_customer);
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
              AND coalesce(root_id, root) = root
              AND has_voted(of_workspace, root, of_customer)
            INTO counted;
            IF FOUND THEN
                RETURN;
            END IF;
        END IF;
        was_merged := true;
    END LOOP;
END
$$;

-- Deletes a customer's votes for everything in the tree of a feature request. Returns the root of the tree, NULL if
-- there is none, and whether there was a vote. The customer, who may be unknown, is looked up when the tally is locked: a
-- vote that was waited for may be the customer's first one.
CREATE FUNCTION withdraw_vote(
    of_workspace uuid, of_request uuid, of_number bigint, of_address text, OUT root uuid, OUT removed boolean
)
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    LOOP
        root := coalesce(
            (SELECT coalesce(root_id, id) FROM feature_requests WHERE workspace_id = of_workspace AND id = of_request),
            (SELECT coalesce(root_id, id) FROM feature_requests
             WHERE workspace_id = of_workspace AND tag_number = of_number)
        );
        removed := false;
        IF root IS NULL THEN
            RETURN;
        END IF;
        -- Nobody else changes the tree or its tally from here on.
        PERFORM FROM vote_tallies
        WHERE workspace_id = of_workspace AND request_id = root AND root_id IS NULL FOR UPDATE;
        -- While it waited, the feature request may have left the tree.
        EXIT WHEN FOUND AND EXISTS (
            SELECT FROM feature_requests
            WHERE workspace_id = of_workspace AND (id = of_request OR tag_number = of_number)
              AND coalesce(root_id, id) = root
        );
    END LOOP;
    DELETE FROM votes
    WHERE workspace_id = of_workspace AND customer_id = (
        SELECT id FROM customers WHERE workspace_id = of_workspace AND email_folded = of_address
    ) AND request_id IN (
        SELECT root UNION ALL
        SELECT member.id FROM feature_requests AS member
        WHERE member.workspace_id = of_workspace AND member.root_id = root
    );
    removed := FOUND;
    IF removed THEN
        UPDATE vote_tallies SET votes_count = votes_count - 1
        WHERE workspace_id = of_workspace AND request_id = root;
    END IF;
END
$$;

-- Locks the feature requests of these trees and their tallies, each kind in order. A vote holds a lock on the feature
-- request and then takes the one of the tally. The former only conflicts with `deleting`, and it is taken first.
--
-- The tally of `first` is locked first: the target of a merge, or the source of an unmerge. A vote that was interrupted
-- by the opposite operation before holds this one and waits for the other one.
CREATE FUNCTION lock_trees(of_workspace uuid, roots uuid[], first uuid, deleting uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
    members uuid[] := ARRAY(
        SELECT unnest(roots) UNION
        SELECT id FROM feature_requests WHERE workspace_id = of_workspace AND root_id = ANY (roots)
    );
BEGIN
    PERFORM FROM feature_requests WHERE workspace_id = of_workspace AND id = ANY (deleting) ORDER BY id FOR UPDATE;
    PERFORM FROM feature_requests WHERE workspace_id = of_workspace AND id = ANY (members) ORDER BY id FOR NO KEY UPDATE;
    PERFORM FROM vote_tallies WHERE workspace_id = of_workspace AND request_id = ANY (members)
    ORDER BY request_id <> first, request_id FOR UPDATE;
    PERFORM FROM track_tallies WHERE workspace_id = of_workspace AND track_id IN (
        SELECT track_id FROM feature_requests WHERE workspace_id = of_workspace AND id = ANY (members)
    ) ORDER BY track_id FOR UPDATE;
END
$$;

-- Counts the votes of these trees again: each customer once. Increments the versions of all their tallies.
CREATE FUNCTION count_trees(of_workspace uuid, roots uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    UPDATE vote_tallies AS tallies
    SET votes_count = counted.votes_count, tree_version = tallies.tree_version + 1
    FROM (
        SELECT tree.root, (
            SELECT count(*) FROM (
                SELECT DISTINCT votes.customer_id FROM (
                    SELECT tree.root AS id UNION ALL
                    SELECT id FROM feature_requests WHERE workspace_id = of_workspace AND root_id = tree.root
                ) AS members
                JOIN votes ON votes.workspace_id = of_workspace AND votes.request_id = members.id
            ) AS voters
        ) AS votes_count
        FROM unnest(roots) AS tree (root)
    ) AS counted
    WHERE tallies.workspace_id = of_workspace AND tallies.request_id = counted.root;
    UPDATE vote_tallies SET tree_version = tree_version + 1
    WHERE workspace_id = of_workspace AND request_id IN (
        SELECT id FROM feature_requests WHERE workspace_id = of_workspace AND root_id = ANY (roots)
    );
END
$$;
