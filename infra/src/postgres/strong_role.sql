-- A role that row-level security would not bind.
SELECT rolname::text FROM pg_roles WHERE rolname = ANY($1) AND (rolsuper OR rolbypassrls) LIMIT 1
