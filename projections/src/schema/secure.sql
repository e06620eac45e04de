ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
CREATE POLICY owner_only ON {table} FOR SELECT TO stash_api
    USING (owner_id = nullif(current_setting('stash.owner_id', true), '')::uuid);
GRANT SELECT ON {table} TO stash_api;
