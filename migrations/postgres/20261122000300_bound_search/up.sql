-- The newest requests are searched in this order.
CREATE INDEX search_documents_by_number ON search_documents (workspace_id, tag_number);

-- As before, with a bound on the rows that are looked at.
DROP FUNCTION search_walk(uuid, tsquery, integer, bigint, integer, bigint);

-- Matches by walking down the steps of votes, from below one, until there are enough or so many rows have been
-- looked at.
CREATE FUNCTION search_walk(
    workspace uuid, query tsquery, from_tier integer, from_number bigint, to_tier integer, looked_at bigint,
    enough bigint
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
    FROM (
        SELECT request_id, tag_number, votes_count, tier FROM vote_tallies
        WHERE workspace_id = workspace AND (tier, tag_number) < (from_tier, from_number) AND tier >= to_tier
        ORDER BY tier DESC, tag_number DESC
        LIMIT looked_at
    ) AS tallies
    CROSS JOIN LATERAL (
        SELECT title, tags, description FROM search_documents
        WHERE workspace_id = workspace AND request_id = tallies.request_id AND terms @@ query OFFSET 0
    ) AS documents
    ORDER BY tallies.tier DESC, tallies.tag_number DESC
    LIMIT enough;
END
$$;

-- The newest matches, until there are enough or so many rows have been looked at.
CREATE FUNCTION search_newest(workspace uuid, query tsquery, looked_at bigint, enough bigint)
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
           matches.title, matches.tags, matches.description
    FROM (
        SELECT request_id, title, tags, description FROM (
            SELECT request_id, tag_number, title, tags, description, terms FROM search_documents
            WHERE workspace_id = workspace ORDER BY tag_number DESC LIMIT looked_at
        ) AS newest
        WHERE terms @@ query ORDER BY tag_number DESC LIMIT enough
    ) AS matches
    JOIN vote_tallies AS tallies ON tallies.workspace_id = workspace AND tallies.request_id = matches.request_id;
END
$$;

-- Any matches, by the index on terms, which only its owner can use (see search_matches).
CREATE FUNCTION search_any(workspace uuid, query tsquery, enough bigint)
RETURNS TABLE (
    request_id uuid, tag_number bigint, votes_count bigint, tier integer, title text, tags text, description text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET plan_cache_mode = force_generic_plan
SET enable_indexscan = off
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    found uuid[];
BEGIN
    IF workspace IS DISTINCT FROM current_workspace() THEN
        RETURN;
    END IF;
    found := ARRAY(
        SELECT request_id FROM search_documents WHERE workspace_id = workspace AND terms @@ query LIMIT enough
    );
    RETURN QUERY
    SELECT tallies.request_id, tallies.tag_number, tallies.votes_count, tallies.tier,
           documents.title, documents.tags, documents.description
    FROM unnest(found) AS one (request_id)
    JOIN vote_tallies AS tallies ON tallies.workspace_id = workspace AND tallies.request_id = one.request_id
    JOIN search_documents AS documents
      ON documents.workspace_id = workspace AND documents.request_id = one.request_id;
END
$$;

-- A function that runs as its owner must not find its tables where its caller says.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION search_walk(uuid, tsquery, integer, bigint, integer, bigint, bigint) SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION search_newest(uuid, tsquery, bigint, bigint) SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION search_any(uuid, tsquery, bigint) SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE EXECUTE ON FUNCTION search_any(uuid, tsquery, bigint) FROM PUBLIC;
