CREATE TABLE customers (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    -- As first written; compared by the folded form.
    email text NOT NULL,
    email_folded text NOT NULL,
    name text,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, email_folded)
);

-- The last tag number drawn: a table of its own, so that drawing one touches nothing else.
CREATE TABLE tag_counters (
    workspace_id uuid PRIMARY KEY REFERENCES workspaces (id),
    last_tag_number bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE feature_requests (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    id uuid NOT NULL,
    tag_number bigint NOT NULL,
    title text NOT NULL,
    description text NOT NULL,
    -- The description without markup.
    description_text text NOT NULL,
    track_id uuid NOT NULL,
    author_id uuid,
    private boolean NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, tag_number),
    FOREIGN KEY (workspace_id, track_id) REFERENCES tracks (workspace_id, id),
    FOREIGN KEY (workspace_id, author_id) REFERENCES customers (workspace_id, id)
);

CREATE INDEX feature_requests_by_track ON feature_requests (workspace_id, track_id);
CREATE INDEX feature_requests_by_author ON feature_requests (workspace_id, author_id);

CREATE TABLE feature_request_tags (
    workspace_id uuid NOT NULL,
    request_id uuid NOT NULL,
    position bigint NOT NULL,
    tag text NOT NULL,
    PRIMARY KEY (workspace_id, request_id, position),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
);

-- Counts are kept apart from the wide rows that they belong to, with room on each page for the
-- versions of a count that an open snapshot holds on to.
CREATE TABLE vote_tallies (
    workspace_id uuid NOT NULL,
    request_id uuid NOT NULL,
    tag_number bigint NOT NULL,
    votes_count bigint NOT NULL,
    -- The count in steps that grow with it: exact below 16, then eight to each doubling. The index
    -- on it is what search walks down. A count of its own in an index would cost every vote an
    -- entry there; the step is mostly the same after a vote, and then no index is touched.
    tier integer NOT NULL GENERATED ALWAYS AS (
        CASE WHEN votes_count < 16 THEN votes_count::integer
        ELSE floor(8 * ln(votes_count::double precision) / ln(2::double precision))::integer - 16 END
    ) STORED,
    PRIMARY KEY (workspace_id, request_id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id)
) WITH (fillfactor = 50);

CREATE INDEX vote_tallies_by_tier ON vote_tallies (workspace_id, tier, tag_number);

CREATE TABLE votes (
    workspace_id uuid NOT NULL,
    request_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    -- Whether the voter gets mail about this request.
    subscribed boolean NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, request_id, customer_id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id),
    FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id)
);

CREATE INDEX votes_by_customer ON votes (workspace_id, customer_id, request_id);
CREATE INDEX votes_by_age ON votes (workspace_id, request_id, created_at, customer_id);

-- Private: read by nothing that answers clients.
-- Adds a vote unless the customer has voted before, and tells the number of votes after it.
--
-- These are statements of their own inside of the one that calls. What the vote refers to is looked up
-- before the tally is held, and not after. Who has waited for the tally's row sets up the statement once
-- more to look at the row again, which is this small one. And a vote that was waited for is counted,
-- although the calling statement does not see it.
CREATE FUNCTION add_vote(
    of_workspace uuid, of_request uuid, of_customer uuid, at timestamptz, OUT is_new boolean, OUT counted bigint
)
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at)
    VALUES (of_workspace, of_request, of_customer, true, at)
    ON CONFLICT (workspace_id, request_id, customer_id) DO NOTHING;
    is_new := FOUND;
    IF is_new THEN
        UPDATE vote_tallies SET votes_count = votes_count + 1
        WHERE workspace_id = of_workspace AND request_id = of_request
        RETURNING votes_count INTO counted;
    ELSE
        SELECT votes_count FROM vote_tallies
        WHERE workspace_id = of_workspace AND request_id = of_request
        INTO counted;
    END IF;
END
$$;

CREATE TABLE notes (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    request_id uuid NOT NULL,
    customer_id uuid,
    author_id uuid,
    body text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id),
    FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, id),
    FOREIGN KEY (workspace_id, author_id) REFERENCES members (workspace_id, id)
);

CREATE INDEX notes_by_request ON notes (workspace_id, request_id);
CREATE INDEX notes_by_customer ON notes (workspace_id, customer_id) WHERE customer_id IS NOT NULL;
CREATE INDEX notes_by_author ON notes (workspace_id, author_id);

CREATE TABLE comments (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    request_id uuid NOT NULL,
    author_id uuid,
    content text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, request_id) REFERENCES feature_requests (workspace_id, id),
    FOREIGN KEY (workspace_id, author_id) REFERENCES members (workspace_id, id)
);

CREATE INDEX comments_by_request ON comments (workspace_id, request_id);
CREATE INDEX comments_by_author ON comments (workspace_id, author_id);

ALTER TABLE customers ENABLE ROW LEVEL SECURITY;
ALTER TABLE tag_counters ENABLE ROW LEVEL SECURITY;
ALTER TABLE feature_requests ENABLE ROW LEVEL SECURITY;
ALTER TABLE feature_request_tags ENABLE ROW LEVEL SECURITY;
ALTER TABLE vote_tallies ENABLE ROW LEVEL SECURITY;
ALTER TABLE votes ENABLE ROW LEVEL SECURITY;
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
ALTER TABLE comments ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_workspace ON customers USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON tag_counters USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON feature_requests USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON feature_request_tags USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON vote_tallies USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON votes USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON notes USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON comments USING (workspace_id = (SELECT current_workspace()));
