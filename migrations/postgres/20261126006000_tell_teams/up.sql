-- Which mail a member gets about what customers write: each, answered, daily or nothing. And the last timestamp of what the
-- member was told, or did not want to be told.
ALTER TABLE members ADD COLUMN team_mail text NOT NULL DEFAULT 'daily';
ALTER TABLE members ADD COLUMN told_until timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now());
ALTER TABLE members ALTER COLUMN told_until DROP DEFAULT;

-- Which members of which workspaces want such mail. Whoever sends it must know it of all of them, whereas a session sees the
-- rows of one: this runs as its owner, and returns no names and no addresses.
CREATE FUNCTION members_to_tell()
RETURNS TABLE (of_workspace uuid, zone text, member uuid, wanted text, told timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER
AS $$
    SELECT members.workspace_id, coalesce(portal_settings.time_zone, 'UTC'), members.id, team_mail, told_until
    FROM members LEFT JOIN portal_settings ON portal_settings.workspace_id = members.workspace_id
    WHERE removed_at IS NULL AND team_mail <> 'nothing'
$$;

-- A function that runs as its owner must not find its tables where its caller says.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION members_to_tell() SET search_path = %I, pg_temp', current_schema());
END
$$;

REVOKE EXECUTE ON FUNCTION members_to_tell() FROM PUBLIC;
