DROP FUNCTION search_any(uuid, tsquery, bigint);
DROP FUNCTION search_newest(uuid, tsquery, bigint, bigint);
DROP FUNCTION search_walk(uuid, tsquery, integer, bigint, integer, bigint, bigint);
DROP INDEX search_documents_by_number;

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

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION search_walk(uuid, tsquery, integer, bigint, integer, bigint) SET search_path = %I, pg_temp', current_schema());
END
$$;
