-- The rows whose address has characters outside of ASCII. Their folded address was once computed in another way, so each
-- start of a process computes it again.
CREATE INDEX customers_with_international_address ON customers (workspace_id, id)
    WHERE length(CAST(email AS BLOB)) <> length(email);
CREATE INDEX members_with_international_address ON members (workspace_id, id)
    WHERE length(CAST(email AS BLOB)) <> length(email);
CREATE INDEX sessions_with_international_address ON sessions (workspace_id, id)
    WHERE length(CAST(email AS BLOB)) <> length(email);
CREATE INDEX sign_ins_with_international_address ON sign_ins (workspace_id, id)
    WHERE length(CAST(email AS BLOB)) <> length(email);
