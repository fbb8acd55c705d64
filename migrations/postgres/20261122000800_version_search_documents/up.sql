-- Documents of an earlier version are indexed again in the background.
ALTER TABLE search_documents ADD COLUMN version integer NOT NULL DEFAULT 0;

CREATE INDEX search_documents_by_version ON search_documents (workspace_id, version);

-- The planner's statistics show which words are common. More of them are kept than by default, because the words of
-- all workspaces share them, and they are gathered often.
ALTER TABLE search_documents ALTER COLUMN terms SET STATISTICS 500;
ALTER TABLE search_documents SET (autovacuum_analyze_scale_factor = 0.05);

DROP FUNCTION search_matches(uuid, tsquery, bigint, double precision, bigint);

-- The functions below run as their owner, because the index on terms can only be used where row-level security does not
-- stand before the match operator, which is not leakproof. They check the workspace themselves.

-- The matches of each query, with its position: all of them, or one more than `most`. The first row has the number of
-- feature requests that the workspace has created, and position 0. `titles` has each query for titles alone.
CREATE FUNCTION search_postings(workspace uuid, queries tsquery[], titles tsquery[], most bigint)
RETURNS TABLE (query_position integer, tag_number bigint, in_title boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET plan_cache_mode = force_generic_plan
SET enable_indexscan = off
SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    IF workspace IS DISTINCT FROM current_workspace() THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT 0, coalesce(max(last_tag_number), 0), false FROM tag_counters WHERE workspace_id = workspace;
    FOR number IN 1 .. cardinality(queries) LOOP
        RETURN QUERY
        SELECT number, tag_number, terms @@ titles[number] FROM search_documents
        WHERE terms @@ queries[number] AND workspace_id = workspace LIMIT most + 1;
    END LOOP;
END
$$;

-- The `enough` most voted matches. If there are more than `most` matches, one row of nothing but NULL.
CREATE FUNCTION search_most_voted(workspace uuid, query tsquery, most bigint, enough bigint)
RETURNS TABLE (
    request_id uuid, tag_number bigint, votes_count bigint, tier integer, title text, tags text, description text
)
LANGUAGE plpgsql SECURITY DEFINER
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    expected json;
    found uuid[];
BEGIN
    IF workspace IS DISTINCT FROM current_workspace() THEN
        RETURN;
    END IF;
    -- What the planner expects tells the common words without reading their long lists. It knows them since the table
    -- was last analyzed.
    EXECUTE format('EXPLAIN (FORMAT JSON) SELECT FROM search_documents WHERE terms @@ %L::tsquery', query) INTO expected;
    IF (expected -> 0 -> 'Plan' ->> 'Plan Rows')::float8 <= 4 * most THEN
        found := ARRAY(
            SELECT request_id FROM search_documents WHERE workspace_id = workspace AND terms @@ query LIMIT most + 1
        );
    END IF;
    IF found IS NULL OR cardinality(found) > most THEN
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

-- The terms of a workspace that the statistics know as common, with the expected number of documents. The statistics
-- of a table with row-level security are visible to its owner alone.
CREATE FUNCTION search_common_terms(workspace uuid)
RETURNS TABLE (term text, documents double precision)
LANGUAGE sql STABLE SECURITY DEFINER
AS $$
    SELECT common.term, common.frequency * greatest(tables.reltuples, 0)
    FROM pg_stats AS stats
    JOIN pg_class AS tables ON tables.oid = 'search_documents'::regclass
    CROSS JOIN unnest(stats.most_common_elems::text::text[], stats.most_common_elem_freqs) AS common (term, frequency)
    WHERE stats.schemaname = tables.relnamespace::regnamespace::text AND stats.tablename = 'search_documents'
      AND stats.attname = 'terms' AND workspace = current_workspace()
      AND starts_with(common.term, right(workspace::text, 6))
$$;

-- A function that runs as its owner must not find its tables where its caller says.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION search_postings(uuid, tsquery[], tsquery[], bigint) SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION search_most_voted(uuid, tsquery, bigint, bigint) SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION search_common_terms(uuid) SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE EXECUTE ON FUNCTION search_postings(uuid, tsquery[], tsquery[], bigint) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION search_most_voted(uuid, tsquery, bigint, bigint) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION search_common_terms(uuid) FROM PUBLIC;
