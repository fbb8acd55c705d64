-- Mails that somebody asked for, by what counts them: a row for each counter. A counter is a digest, because it may be
-- that of an address.
CREATE TABLE counted_mails (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    -- The sign-in or the message.
    mail uuid NOT NULL,
    counter bytea NOT NULL,
    asked_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, mail, counter)
);

-- A counter counts in all workspaces.
CREATE INDEX counted_mails_by_counter ON counted_mails (counter, asked_at);
-- The old ones, which are deleted.
CREATE INDEX counted_mails_by_age ON counted_mails (workspace_id, asked_at);

-- Addresses whose sign-ins were redeemed.
CREATE TABLE confirmed_addresses (
    workspace_id uuid NOT NULL REFERENCES workspaces (id),
    email_folded text NOT NULL,
    confirmed_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, email_folded)
);

INSERT INTO confirmed_addresses (workspace_id, email_folded, confirmed_at)
SELECT workspace_id, email_folded, max(created_at) FROM sessions GROUP BY workspace_id, email_folded;

-- Whether a mail was sent for a sign-in.
ALTER TABLE sign_ins ADD COLUMN has_mail boolean NOT NULL DEFAULT true;

CREATE INDEX sign_ins_without_mail ON sign_ins (workspace_id, created_at) WHERE NOT has_mail;

ALTER TABLE counted_mails ENABLE ROW LEVEL SECURITY;
ALTER TABLE confirmed_addresses ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_workspace ON counted_mails USING (workspace_id = (SELECT current_workspace()));
CREATE POLICY own_workspace ON confirmed_addresses USING (workspace_id = (SELECT current_workspace()));

-- When the nth newest mail of a counter was asked for, in all workspaces together, which no session may read. It returns a
-- time, and nothing of whose mail it was.
CREATE FUNCTION nth_counted_mail(of_counter bytea, nth bigint) RETURNS timestamptz
LANGUAGE sql SECURITY DEFINER
AS $$
    SELECT asked_at FROM counted_mails WHERE counter = of_counter ORDER BY asked_at DESC OFFSET nth - 1 LIMIT 1
$$;

-- A function that runs as its owner must not find its tables where its caller says.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION nth_counted_mail(bytea, bigint) SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE EXECUTE ON FUNCTION nth_counted_mail(bytea, bigint) FROM PUBLIC;
