-- A retiring master key takes no new rows, so one that has none never will again.
DELETE FROM master_key
WHERE retiring_at IS NOT NULL
    AND NOT EXISTS (SELECT FROM subject_key WHERE subject_key.master_key_id = master_key.master_key_id)
RETURNING master_key_id
