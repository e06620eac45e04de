-- The schema of the current read models: views only, made when a version is switched on.
-- stash_api reads them as itself (security_invoker), so each version's tables grant it SELECT and bind it by their policies.
CREATE SCHEMA IF NOT EXISTS rm;
GRANT USAGE ON SCHEMA rm TO stash_api;
ALTER DEFAULT PRIVILEGES IN SCHEMA rm GRANT SELECT ON TABLES TO stash_api;

-- Nobody but the owner makes anything here; a server that was upgraded from before 15 still lets everybody.
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
