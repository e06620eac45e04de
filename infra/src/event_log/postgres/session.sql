-- What an appending connection needs, whatever the defaults of the server or of the user are.

-- Each statement of log_append must see what the holder of the lock before it committed.
SET default_transaction_isolation = 'read committed';
-- A statement that waits too long is given up by the server and so surely undone, before our own deadline leaves it unknown.
SET lock_timeout = '5s';
SET statement_timeout = '8s';
-- Acknowledged means durable. A stricter setting of the server (remote_apply) stays.
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local');
-- The role is absent where the migration was not allowed to make it.
SELECT set_config('role', 'stash_log', false) FROM pg_roles
WHERE rolname = 'stash_log' AND pg_has_role(current_user, oid, 'MEMBER');
