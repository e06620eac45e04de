-- Keeps the keys whose subject has none yet, in one order everywhere, so that two imports of the same traces never wait for
-- each other in a circle. A master key that is being retired takes none: its row is held to the end of the statement, so
-- retirement begins after it.
-- With $5 the commit does not wait for the disk: whatever is committed after it, and waits, has it written too.
WITH master AS MATERIALIZED (
    SELECT master_key_id FROM master_key WHERE master_key_id = $2 AND retiring_at IS NULL FOR SHARE
), patience AS MATERIALIZED (
    SELECT set_config(
        'synchronous_commit', CASE WHEN $5::boolean THEN 'off' ELSE current_setting('synchronous_commit') END, true
    )
)
INSERT INTO subject_key (owner_id, subject_id, master_key_id, wrapped)
SELECT $1, new.subject_id, master.master_key_id, new.wrapped
FROM master, patience, unnest($3::uuid[], $4::bytea[]) AS new (subject_id, wrapped)
ORDER BY new.subject_id
ON CONFLICT (owner_id, subject_id) DO NOTHING
RETURNING subject_id
