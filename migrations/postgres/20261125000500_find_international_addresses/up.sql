-- The rows whose address has characters outside of ASCII. Their folded address was once computed in another way, so each
-- start of a process computes it again.
CREATE INDEX customers_with_international_address ON customers (workspace_id, id)
    WHERE octet_length(email) <> length(email);
CREATE INDEX members_with_international_address ON members (workspace_id, id)
    WHERE octet_length(email) <> length(email);
CREATE INDEX sessions_with_international_address ON sessions (workspace_id, id)
    WHERE octet_length(email) <> length(email);
CREATE INDEX sign_ins_with_international_address ON sign_ins (workspace_id, id)
    WHERE octet_length(email) <> length(email);

-- Which workspaces have such rows. A session sees the rows of one workspace, whereas the start of a process must know it
-- of all of them: this runs as its owner, and returns nothing but the identities.
CREATE FUNCTION workspaces_with_international_addresses()
RETURNS TABLE (id uuid)
LANGUAGE sql STABLE SECURITY DEFINER
AS $$
    SELECT workspace_id FROM customers WHERE octet_length(email) <> length(email)
    UNION
    SELECT workspace_id FROM members WHERE octet_length(email) <> length(email)
    UNION
    SELECT workspace_id FROM sessions WHERE octet_length(email) <> length(email)
    UNION
    SELECT workspace_id FROM sign_ins WHERE octet_length(email) <> length(email)
    ORDER BY 1
$$;

-- A function that runs as its owner must not find its tables where its caller says.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION workspaces_with_international_addresses() SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE EXECUTE ON FUNCTION workspaces_with_international_addresses() FROM PUBLIC;
