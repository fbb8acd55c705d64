DROP FUNCTION search_matches(uuid, tsquery[], bigint);

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

-- A function that runs as its owner must not find its tables where its caller says.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION search_postings(uuid, tsquery[], tsquery[], bigint) SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE EXECUTE ON FUNCTION search_postings(uuid, tsquery[], tsquery[], bigint) FROM PUBLIC;
