-- Mails that somebody asked for, by what counts them: a row for each counter. A counter is a digest, because it may be
-- that of an address.
CREATE TABLE counted_mails (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    -- The sign-in or the message.
    mail BLOB NOT NULL,
    counter BLOB NOT NULL,
    asked_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, mail, counter)
) STRICT, WITHOUT ROWID;

-- A counter counts in all workspaces.
CREATE INDEX counted_mails_by_counter ON counted_mails (counter, asked_at);
-- The old ones, which are deleted.
CREATE INDEX counted_mails_by_age ON counted_mails (workspace_id, asked_at);

-- Addresses whose sign-ins were redeemed.
CREATE TABLE confirmed_addresses (
    workspace_id BLOB NOT NULL REFERENCES workspaces (id),
    email_folded TEXT NOT NULL,
    confirmed_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, email_folded)
) STRICT, WITHOUT ROWID;

INSERT INTO confirmed_addresses (workspace_id, email_folded, confirmed_at)
SELECT workspace_id, email_folded, max(created_at) FROM sessions GROUP BY workspace_id, email_folded;

-- Whether a mail was sent for a sign-in.
ALTER TABLE sign_ins ADD COLUMN has_mail INTEGER NOT NULL DEFAULT 1;

CREATE INDEX sign_ins_without_mail ON sign_ins (workspace_id, created_at) WHERE has_mail = 0;
