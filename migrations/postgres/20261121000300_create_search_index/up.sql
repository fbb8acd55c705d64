CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;
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
    -- The same stems and surfaces, each once; those of the title also as `title/term`.
    terms tsvector NOT NULL,
    PRIMARY KEY (workspace_id, request_id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
);

CREATE INDEX search_documents_by_term ON search_documents USING gin (workspace_id, terms);

-- Words that typing errors are mended to, by their trigrams.
CREATE TABLE search_words (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    word text NOT NULL,
    PRIMARY KEY (workspace_id, word)
);

CREATE INDEX search_words_by_likeness ON search_words USING gist (workspace_id, word gist_trgm_ops);

ALTER TABLE search_documents ENABLE ROW LEVEL SECURITY;
ALTER TABLE search_words ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_workspace ON search_documents USING (workspace_id = current_workspace());
CREATE POLICY own_workspace ON search_words USING (workspace_id = current_workspace());

-- The index on terms can only be used where row-level security does not stand before the match
-- operator, which is not leakproof. So these two functions run as their owner, and are walls
-- themselves: they look at the rows of the named workspace alone.

-- The most voted of the current workspace's requests that match. Of more than `few` matches it only
-- says that there are more, with one row of nothing but NULL.
CREATE FUNCTION search_matches(query tsquery, few bigint, enough bigint)
RETURNS TABLE (
    request_id uuid, tag_number bigint, votes_count bigint, tier integer, title text, tags text, description text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    workspace uuid := current_workspace();
    found uuid[];
BEGIN
    found := ARRAY(
        SELECT request_id FROM search_documents WHERE workspace_id = workspace AND terms @@ query LIMIT few + 1
    );
    IF cardinality(found) > few THEN
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

-- The current workspace's words that are most like this one.
CREATE FUNCTION search_similar_words(typed text, most bigint)
RETURNS TABLE (word text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
AS $$
BEGIN
    RETURN QUERY
    SELECT words.word FROM search_words AS words
    WHERE words.workspace_id = current_workspace()
    ORDER BY words.word <-> typed
    LIMIT most;
END
$$;

-- A function that runs as its owner must not find its tables where its caller says.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION search_matches(tsquery, bigint, bigint) SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION search_similar_words(text, bigint) SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE EXECUTE ON FUNCTION search_matches(tsquery, bigint, bigint) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION search_similar_words(text, bigint) FROM PUBLIC;
