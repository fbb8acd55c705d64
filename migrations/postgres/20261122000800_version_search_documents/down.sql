DROP FUNCTION search_common_terms(uuid);
DROP FUNCTION search_most_voted(uuid, tsquery, bigint, bigint);
DROP FUNCTION search_postings(uuid, tsquery[], tsquery[], bigint);

-- The most voted of the current workspace's requests that match, by the index. When so many match that walking is the
-- better way, it only says so, with one row of nothing but NULL. The caller says up to how many matches the index is
-- cheaper: so many at least, or the root of so many for each request of the workspace.
CREATE FUNCTION search_matches(
    workspace uuid, query tsquery, least_matches bigint, matches_per_request double precision, enough bigint
)
RETURNS TABLE (
    request_id uuid, tag_number bigint, votes_count bigint, tier integer, title text, tags text, description text
)
LANGUAGE plpgsql SECURITY DEFINER
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    requests bigint := (SELECT last_tag_number FROM tag_counters WHERE workspace_id = workspace);
    few bigint := greatest(least_matches, sqrt(matches_per_request * coalesce(requests, 0)));
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

-- A function that runs as its owner must not find its tables where its caller says.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION search_matches(uuid, tsquery, bigint, double precision, bigint) SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE EXECUTE ON FUNCTION search_matches(uuid, tsquery, bigint, double precision, bigint) FROM PUBLIC;

ALTER TABLE search_documents RESET (autovacuum_analyze_scale_factor);
ALTER TABLE search_documents ALTER COLUMN terms SET STATISTICS -1;

DROP INDEX search_documents_by_version;

ALTER TABLE search_documents DROP COLUMN version;
