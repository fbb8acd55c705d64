-- What public feature requests are found by: terms that the domain has reduced, ` stem/surface`.
-- A private request has no row here.
CREATE TABLE search_documents (
    row_number INTEGER PRIMARY KEY,
    workspace_id BLOB NOT NULL,
    request_id BLOB NOT NULL,
    title TEXT NOT NULL,
    tags TEXT NOT NULL,
    description TEXT NOT NULL,
    UNIQUE (workspace_id, request_id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
) STRICT;

-- The terms are ASCII words already, so that the plainest tokenizer does. Positions are not needed
-- (detail=column): there are no phrase queries.
CREATE VIRTUAL TABLE search_index USING fts5 (
    title, tags, description,
    content = 'search_documents', content_rowid = 'row_number',
    tokenize = 'ascii', detail = 'column', prefix = '1 2 3'
);

-- Words that typing errors are mended to, by their trigrams.
CREATE TABLE search_words (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    word TEXT NOT NULL,
    PRIMARY KEY (workspace_id, word)
) STRICT, WITHOUT ROWID;

CREATE TABLE search_trigrams (
    workspace_id BLOB NOT NULL,
    trigram TEXT NOT NULL,
    word TEXT NOT NULL,
    PRIMARY KEY (workspace_id, trigram, word)
) STRICT, WITHOUT ROWID;
