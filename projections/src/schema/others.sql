SELECT nspname::text FROM pg_catalog.pg_namespace WHERE nspname ~ '^rm_v[0-9]+$' AND nspname <> $1
