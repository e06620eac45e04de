-- The roles that Stash's connections act as. They cannot log in: the user of the deployment takes them on.
-- Roles belong to the cluster, so another database's Stash may have made them already, or be making them now.
DO $$
DECLARE
    role_name text;
    -- Before 16, membership is enough to take on a role; since then it is a right of its own.
    needed text := CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END;
BEGIN
    FOREACH role_name IN ARRAY ARRAY['stash_api', 'stash_log'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
        END IF;
        IF NOT pg_has_role(current_user, role_name, needed) THEN
            EXECUTE format('GRANT %I TO CURRENT_USER', role_name);
        END IF;
    END LOOP;
END
$$
