CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gist;

-- What public feature requests are found by: terms that the domain has reduced, ` stem/surface`.
-- A private request has no row here.
CREATE TABLE search_documents (
    workspace_id uuid NOT NULL,
    request_id uuid NOT NULL,
    tag_number bigint NOT NULL,
    title text NOT NULL,
    tags text NOT NULL,
    description text NOT NULL,
    -- The same stems and surfaces, each once, as `workspace/term`, and those of the title also as
    -- `workspace=term`; the workspace by six of its digits. So the index keeps workspaces apart
    -- without a second list to intersect with.
    terms tsvector NOT NULL,
    PRIMARY KEY (workspace_id, request_id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
    -- Rows stay in one piece: a walk reads them whole.
) WITH (toast_tuple_target = 8160);

-- New entries wait in a list that every search reads through: it is kept short.
CREATE INDEX search_documents_by_term ON search_documents USING gin (terms) WITH (gin_pending_list_limit = 64);

-- Words that typing errors are mended to, by their trigrams.
CREATE TABLE search_words (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    word text NOT NULL,
    PRIMARY KEY (workspace_id, word)
);

CREATE INDEX search_words_by_likeness ON search_words USING gist (workspace_id, word gist_trgm_ops);

ALTER TABLE search_documents ENABLE ROW LEVEL SECURITY;
ALTER TABLE search_words ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_workspace ON search_documents USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON search_words USING (workspace_id = (SELECT current_workspace()));

-- The planner is told how to run these three, because it cannot know how many requests match.
--
-- The index on terms can only be used where row-level security does not stand before the match
-- operator, which is not leakproof. So the first and the last of them run as their owner, and are walls
-- themselves: they look at the rows of the named workspace alone.

-- The most voted of the current workspace's requests that match, by the index. When so many match
-- that walking is the better way, it only says so, with one row of nothing but NULL. Reading `m`
-- matches costs about as much as `m`; walking until `enough` of `n` requests match costs about
-- `0.4 * enough * n / m`. They meet at the root of `0.4 * enough * n`.
CREATE FUNCTION search_matches(workspace uuid, query tsquery, enough bigint)
RETURNS TABLE (
    request_id uuid, tag_number bigint, votes_count bigint, tier integer, title text, tags text, description text
)
LANGUAGE plpgsql SECURITY DEFINER
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    requests bigint := (SELECT last_tag_number FROM tag_counters WHERE workspace_id = workspace);
    few bigint := greatest(100, sqrt(0.4 * enough * coalesce(requests, 0)));
    expected json;
    found uuid[];
BEGIN
    IF workspace IS DISTINCT FROM current_workspace() THEN
        RETURN;
    END IF;
    -- What the planner expects tells the common words without reading their long lists. It knows them
    -- since the table was last analyzed. What it does not know is counted, up to twice as many: what has
    -- been read until then would be read for nothing.
    EXECUTE format('EXPLAIN (FORMAT JSON) SELECT FROM search_documents WHERE terms @@ %L::tsquery', query) INTO expected;
    IF (expected -> 0 -> 'Plan' ->> 'Plan Rows')::float8 > few THEN
        RETURN QUERY SELECT NULL::uuid, NULL::bigint, NULL::bigint, NULL::integer, NULL::text, NULL::text, NULL::text;
        RETURN;
    END IF;
    found := ARRAY(
        SELECT request_id FROM search_documents WHERE workspace_id = workspace AND terms @@ query LIMIT 2 * few + 1
    );
    IF cardinality(found) > 2 * few THEN
        RETURN QUERY SELECT NULL::uuid, NULL::bigint, NULL::bigint, NULL::integer, NULL::text, NULL::text, NULL::text;
    ELSE
        RETURN QUERY
        SELECT best.request_id, best.tag_number, best.votes_count, best.tier,
               documents.title, documents.tags, documents.description
        FROM (
            SELECT tallies.request_id, tallies.tag_number, tallies.votes_count, tallies.tier
            FROM unnest(found) AS one (request_id)
            JOIN vote_tallies AS tallies ON tallies.workspace_id = workspace AND tallies.request_id = one.request_id
            ORDER BY tallies.votes_count DESC, tallies.tag_number DESC
            LIMIT enough
        ) AS best
        JOIN search_documents AS documents
          ON documents.workspace_id = workspace AND documents.request_id = best.request_id;
    END IF;
END
$$;

-- Matches by walking down the steps of votes, from below one, until there are enough.
CREATE FUNCTION search_walk(
    workspace uuid, query tsquery, from_tier integer, from_number bigint, to_tier integer, enough bigint
)
RETURNS TABLE (
    request_id uuid, tag_number bigint, votes_count bigint, tier integer, title text, tags text, description text
)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_sort = off
SET enable_bitmapscan = off
SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT tallies.request_id, tallies.tag_number, tallies.votes_count, tallies.tier,
           documents.title, documents.tags, documents.description
    FROM vote_tallies AS tallies
    CROSS JOIN LATERAL (
        SELECT title, tags, description FROM search_documents
        WHERE workspace_id = workspace AND request_id = tallies.request_id AND terms @@ query OFFSET 0
    ) AS documents
    WHERE tallies.workspace_id = workspace AND (tallies.tier, tallies.tag_number) < (from_tier, from_number)
      AND tallies.tier >= to_tier
    ORDER BY tallies.tier DESC, tallies.tag_number DESC
    LIMIT enough;
END
$$;

-- The current workspace's words that are most like this one.
CREATE FUNCTION search_similar_words(workspace uuid, typed text, most bigint)
RETURNS TABLE (word text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
AS $$
BEGIN
    RETURN QUERY
    SELECT words.word FROM search_words AS words
    WHERE words.workspace_id = workspace AND workspace = current_workspace()
    ORDER BY words.word <-> typed
    LIMIT most;
END
$$;

-- A function that runs as its owner must not find its tables where its caller says.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION search_matches(uuid, tsquery, bigint) SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION search_walk(uuid, tsquery, integer, bigint, integer, bigint) SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION search_similar_words(uuid, text, bigint) SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE EXECUTE ON FUNCTION search_matches(uuid, tsquery, bigint) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION search_similar_words(uuid, text, bigint) FROM PUBLIC;
