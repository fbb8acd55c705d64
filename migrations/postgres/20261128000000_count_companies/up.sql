-- Returns the company of the owner of a folded address: the domain, what is behind the last `@`, unless people have
-- addresses there for themselves. The domain of the product has the same rule.
CREATE FUNCTION company_of(address text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN right(address, 8) <> '.invalid' AND substring(address FROM '@([^@]*)$') NOT IN (
        '126.com', '139.com', '163.com', 'aol.com', 'arcor.de', 'bigpond.com', 'bk.ru', 'bluewin.ch', 'bol.com.br',
        'btinternet.com', 'comcast.net', 'cox.net', 'daum.net', 'earthlink.net', 'fastmail.com', 'foxmail.com',
        'free.fr', 'freenet.de', 'gmail.com', 'gmx.at', 'gmx.ch', 'gmx.com', 'gmx.de', 'gmx.net', 'googlemail.com',
        'hanmail.net', 'hey.com', 'hotmail.co.uk', 'hotmail.com', 'hotmail.de', 'hotmail.fr', 'hotmail.it',
        'hushmail.com', 'icloud.com', 'inbox.ru', 'laposte.net', 'libero.it', 'list.ru', 'live.com', 'live.nl',
        'mac.com', 'mail.com', 'mail.ru', 'mailbox.org', 'me.com', 'msn.com', 'naver.com', 'orange.fr',
        'outlook.com', 'outlook.de', 'pm.me', 'posteo.de', 'proton.me', 'protonmail.com', 'qq.com', 'rediffmail.com',
        'rocketmail.com', 'seznam.cz', 'sfr.fr', 't-online.de', 'tuta.com', 'web.de', 'yahoo.co.jp', 'yahoo.co.uk',
        'yahoo.com', 'yahoo.de', 'yandex.ru', 'ymail.com'
    ) THEN substring(address FROM '@([^@]*)$') END
$$;

-- How many customers of a company have voted for a feature request or for what is merged into it. There is no row without
-- one. Rows of merged feature requests mean nothing. Who changes rows has locked the tally of the feature request.
CREATE TABLE company_tallies (
    workspace_id uuid NOT NULL,
    request_id uuid NOT NULL,
    company text NOT NULL,
    voters_count bigint NOT NULL,
    PRIMARY KEY (workspace_id, request_id, company),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
);

ALTER TABLE company_tallies ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON company_tallies USING (workspace_id = (SELECT current_workspace()));

INSERT INTO company_tallies (workspace_id, request_id, company, voters_count)
SELECT votes.workspace_id, coalesce(tallies.root_id, tallies.request_id), company_of(customers.email_folded),
       count(DISTINCT votes.customer_id)
FROM votes
JOIN vote_tallies AS tallies ON tallies.workspace_id = votes.workspace_id AND tallies.request_id = votes.request_id
JOIN customers ON customers.workspace_id = votes.workspace_id AND customers.id = votes.customer_id
WHERE company_of(customers.email_folded) IS NOT NULL
GROUP BY 1, 2, 3;

-- The number of companies whose customers have voted: of rows of `company_tallies`.
ALTER TABLE vote_tallies ADD COLUMN companies_count bigint NOT NULL DEFAULT 0;

UPDATE vote_tallies SET companies_count = counted.companies FROM (
    SELECT workspace_id, request_id, count(*) AS companies FROM company_tallies GROUP BY workspace_id, request_id
) AS counted
WHERE counted.workspace_id = vote_tallies.workspace_id AND counted.request_id = vote_tallies.request_id;

CREATE INDEX vote_tallies_by_companies ON vote_tallies (workspace_id, track_id, companies_count, tag_number)
WHERE root_id IS NULL;

-- Adds customers who have voted for a tree to the tallies of their companies.
CREATE FUNCTION add_company_voters(of_workspace uuid, of_root uuid, voters uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    WITH counted AS (
        INSERT INTO company_tallies AS tallies (workspace_id, request_id, company, voters_count)
        SELECT of_workspace, of_root, company, count(*) FROM (
            SELECT company_of(email_folded) AS company FROM customers
            WHERE workspace_id = of_workspace AND id = ANY (voters)
        ) AS of_voters
        WHERE company IS NOT NULL GROUP BY company
        ON CONFLICT (workspace_id, request_id, company)
        DO UPDATE SET voters_count = tallies.voters_count + excluded.voters_count
        -- Nothing else has written a row that was inserted.
        RETURNING tallies.xmax = 0 AS is_new
    )
    UPDATE vote_tallies SET companies_count = companies_count + added.companies
    FROM (SELECT count(*) AS companies FROM counted WHERE is_new) AS added
    WHERE added.companies > 0 AND workspace_id = of_workspace AND request_id = of_root;
END
$$;

-- Counts the companies of the voters of these trees again.
CREATE FUNCTION count_companies(of_workspace uuid, roots uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    DELETE FROM company_tallies WHERE workspace_id = of_workspace AND request_id = ANY (roots);
    INSERT INTO company_tallies (workspace_id, request_id, company, voters_count)
    SELECT of_workspace, root, company, count(DISTINCT customer) FROM (
        SELECT tree.root, customers.id AS customer, company_of(customers.email_folded) AS company
        FROM unnest(roots) AS tree (root)
        CROSS JOIN LATERAL (
            SELECT tree.root AS id UNION ALL
            SELECT id FROM feature_requests WHERE workspace_id = of_workspace AND root_id = tree.root
        ) AS members
        JOIN votes ON votes.workspace_id = of_workspace AND votes.request_id = members.id
        JOIN customers ON customers.workspace_id = of_workspace AND customers.id = votes.customer_id
    ) AS voters
    WHERE company IS NOT NULL GROUP BY root, company;
    UPDATE vote_tallies SET companies_count = (
        SELECT count(*) FROM company_tallies AS counted
        WHERE counted.workspace_id = of_workspace AND counted.request_id = vote_tallies.request_id
    )
    WHERE workspace_id = of_workspace AND request_id = ANY (roots);
END
$$;

-- As before, with the companies of the voters.
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
            is_new := NOT has_voted(of_workspace, root, of_customer);
        END IF;
        IF is_new THEN
            INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at)
            VALUES (of_workspace, root, of_customer, true, at)
            ON CONFLICT (workspace_id, request_id, customer_id) DO NOTHING;
            is_new := FOUND;
        END IF;
        IF is_new THEN
            UPDATE vote_tallies SET votes_count = votes_count + 1, trend = trend + vote_weight(at)
            WHERE workspace_id = of_workspace AND request_id = root AND tree_version = version
              AND coalesce(root_id, root) = root
            RETURNING votes_count INTO counted;
            IF FOUND THEN
                PERFORM add_company_voters(of_workspace, root, ARRAY[of_customer]);
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

CREATE OR REPLACE FUNCTION withdraw_vote(
    of_workspace uuid, of_request uuid, of_number bigint, of_address text, OUT root uuid, OUT removed boolean
)
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
    voted_at timestamptz;
    -- The voters of the same company that are left.
    remaining bigint;
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
    WITH withdrawn AS (
        DELETE FROM votes
        WHERE workspace_id = of_workspace AND customer_id = (
            SELECT id FROM customers WHERE workspace_id = of_workspace AND email_folded = of_address
        ) AND request_id IN (
            SELECT root UNION ALL
            SELECT member.id FROM feature_requests AS member
            WHERE member.workspace_id = of_workspace AND member.root_id = root
        )
        RETURNING created_at
    )
    SELECT min(created_at) INTO voted_at FROM withdrawn;
    removed := voted_at IS NOT NULL;
    IF removed THEN
        UPDATE company_tallies SET voters_count = voters_count - 1
        WHERE workspace_id = of_workspace AND request_id = root AND company = company_of(of_address)
        RETURNING voters_count INTO remaining;
        IF remaining = 0 THEN
            DELETE FROM company_tallies
            WHERE workspace_id = of_workspace AND request_id = root AND company = company_of(of_address);
        END IF;
        UPDATE vote_tallies
        SET votes_count = votes_count - 1,
            companies_count = companies_count - CASE WHEN remaining = 0 THEN 1 ELSE 0 END,
            trend = CASE WHEN votes_count = 1 THEN 0 ELSE greatest(trend - vote_weight(voted_at), 0) END
        WHERE workspace_id = of_workspace AND request_id = root;
    END IF;
END
$$;

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

CREATE OR REPLACE FUNCTION cast_votes(
    of_workspace uuid, merges_lock bigint, keys text[], key_locks bigint[], requests uuid[], numbers bigint[],
    times timestamptz[], customer_ids uuid[], addresses text[], folded_addresses text[], names text[],
    folded_names text[], note_ids uuid[], note_authors uuid[], note_bodies text[]
)
RETURNS TABLE (
    place integer, saved_status integer, saved_body bytea, request_id uuid, number bigint, request_title text,
    track_name text, lane_name text, counted bigint, request_created_at timestamptz, is_new boolean, was_cast boolean
)
LANGUAGE plpgsql VOLATILE
-- A tally that another transaction holds for long delays no vote for another feature request longer than this.
SET lock_timeout = '250ms'
AS $$
#variable_conflict use_column
DECLARE
    is_free boolean[];
    -- The root of each vote's feature request; NULL: the vote is not cast here.
    roots uuid[];
    were_merged boolean[];
    voters uuid[];
    -- The votes that were inserted.
    new_roots uuid[];
    new_voters uuid[];
    new_times timestamptz[];
    tally record;
BEGIN
    IF NOT pg_try_advisory_xact_lock_shared(merges_lock) THEN
        RETURN;
    END IF;
    SELECT array_agg(key_lock IS NULL OR pg_try_advisory_xact_lock(key_lock) ORDER BY place) INTO is_free
    FROM unnest(key_locks) WITH ORDINALITY AS vote (key_lock, place);

    RETURN QUERY
    SELECT vote.place::integer, status, body, NULL::uuid, NULL::bigint, NULL::text, NULL::text, NULL::text,
           NULL::bigint, NULL::timestamptz, NULL::boolean, NULL::boolean
    FROM unnest(keys, is_free) WITH ORDINALITY AS vote (key, is_free, place)
    CROSS JOIN LATERAL (
        SELECT status, body FROM operations WHERE workspace_id = of_workspace AND operation_key = key LIMIT 1
    ) AS saved
    WHERE vote.is_free AND key IS NOT NULL;
    IF FOUND THEN
        SELECT array_agg(vote.is_free AND NOT EXISTS (
            SELECT FROM operations WHERE workspace_id = of_workspace AND operation_key = key OFFSET 0
        ) ORDER BY place) INTO is_free
        FROM unnest(keys, is_free) WITH ORDINALITY AS vote (key, is_free, place);
    END IF;

    SELECT array_agg(coalesce(root_id, id) ORDER BY place), array_agg(was_merged ORDER BY place)
    INTO roots, were_merged
    FROM unnest(requests, numbers, is_free) WITH ORDINALITY AS vote (request, number, is_free, place)
    LEFT JOIN LATERAL (
        SELECT id, root_id, was_merged FROM feature_requests WHERE workspace_id = of_workspace AND id = request
        UNION ALL
        SELECT id, root_id, was_merged FROM feature_requests WHERE workspace_id = of_workspace AND tag_number = number
        LIMIT 1
    ) AS named ON vote.is_free;

    -- Once to find the known customers, once more if others had to be inserted.
    FOR attempt IN 1..2 LOOP
        SELECT array_agg(known.id ORDER BY place),
               array_agg(CASE WHEN address IS NULL OR known.name IS NOT NULL
                                OR known.id IS NOT NULL AND vote.name IS NULL
                                OR known.id IS NULL AND attempt = 1 THEN root END ORDER BY place)
        INTO voters, roots
        FROM unnest(roots, folded_addresses, names) WITH ORDINALITY AS vote (root, address, name, place)
        LEFT JOIN LATERAL (
            SELECT id, customers.name FROM customers
            WHERE workspace_id = of_workspace AND email_folded = address LIMIT 1
        ) AS known ON root IS NOT NULL;
        EXIT WHEN attempt = 2 OR NOT EXISTS (
            SELECT FROM unnest(roots, folded_addresses, voters) AS vote (root, address, voter)
            WHERE root IS NOT NULL AND address IS NOT NULL AND voter IS NULL
        );
        INSERT INTO customers (workspace_id, id, email, email_folded, name, name_folded, created_at)
        SELECT DISTINCT ON (folded) of_workspace, customer, email, folded, name, folded_name, at
        FROM unnest(roots, voters, customer_ids, addresses, folded_addresses, names, folded_names, times)
            WITH ORDINALITY AS vote (root, voter, customer, email, folded, name, folded_name, at, place)
        WHERE root IS NOT NULL AND voter IS NULL AND customer IS NOT NULL
        ORDER BY folded, place
        ON CONFLICT (workspace_id, email_folded) DO NOTHING;
    END LOOP;

    WITH added AS (
        INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at)
        SELECT DISTINCT ON (root, voter) of_workspace, root, voter, true, at
        FROM unnest(roots, were_merged, voters, times) WITH ORDINALITY AS vote (root, was_merged, voter, at, place)
        WHERE root IS NOT NULL AND voter IS NOT NULL
          AND NOT (was_merged AND has_voted(of_workspace, root, voter))
        ORDER BY root, voter, place
        ON CONFLICT (workspace_id, request_id, customer_id) DO NOTHING
        RETURNING votes.request_id, votes.customer_id, votes.created_at
    )
    SELECT array_agg(added.request_id), array_agg(added.customer_id), array_agg(added.created_at)
    INTO new_roots, new_voters, new_times FROM added;

    FOR tally IN
        SELECT root, count(*) AS added, sum(vote_weight(at)) AS weight, array_agg(voter) AS voters
        FROM unnest(new_roots, new_times, new_voters) AS vote (root, at, voter) GROUP BY root ORDER BY root
    LOOP
        UPDATE vote_tallies SET votes_count = votes_count + tally.added, trend = trend + tally.weight
        WHERE workspace_id = of_workspace AND vote_tallies.request_id = tally.root;
        PERFORM add_company_voters(of_workspace, tally.root, tally.voters);
    END LOOP;

    IF array_length(array_remove(note_ids, NULL), 1) > 0 THEN
        INSERT INTO notes (workspace_id, id, request_id, customer_id, author_id, body, created_at)
        SELECT of_workspace, note, root, voter, author, content, at
        FROM unnest(roots, voters, note_ids, note_authors, note_bodies, times)
            AS vote (root, voter, note, author, content, at)
        WHERE root IS NOT NULL AND note IS NOT NULL;
    END IF;

    -- The tallies with new votes are locked, and have all votes of this statement. One without is read together with the
    -- earlier vote.
    RETURN QUERY
    SELECT vote.place::integer, NULL::integer, NULL::bytea, root, request.tag_number, request.title, request.track,
           request.lane, request.votes_count - still_added, request.created_at,
           CASE WHEN voter IS NOT NULL THEN vote.is_first END,
           vote.is_first OR voter IS NULL OR has_voted(of_workspace, root, voter)
    FROM (
        SELECT place, root, voter, is_first,
               count(*) FILTER (WHERE is_first) OVER (
                   PARTITION BY root ORDER BY place ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
               ) AS still_added
        FROM (
            SELECT place, root, voter,
                   row_number() OVER (PARTITION BY root, voter ORDER BY place) = 1 AND EXISTS (
                       SELECT FROM unnest(new_roots, new_voters) AS added (added_root, added_voter)
                       WHERE added_root = root AND added_voter = voter
                   ) AS is_first
            FROM unnest(roots, voters) WITH ORDINALITY AS asked (root, voter, place)
            WHERE root IS NOT NULL
        ) AS numbered
    ) AS vote
    CROSS JOIN LATERAL (
        SELECT tag_number, title, created_at, tally.votes_count, tracks.name AS track, lanes.name AS lane
        FROM feature_requests
        CROSS JOIN LATERAL (
            SELECT votes_count FROM vote_tallies
            WHERE vote_tallies.workspace_id = of_workspace AND vote_tallies.request_id = root LIMIT 1
        ) AS tally
        JOIN tracks ON tracks.workspace_id = of_workspace AND tracks.id = track_id
        LEFT JOIN lanes ON lanes.workspace_id = of_workspace AND lanes.id = lane_id
        WHERE feature_requests.workspace_id = of_workspace AND feature_requests.id = root LIMIT 1
    ) AS request;
END
$$;
