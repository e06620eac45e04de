-- From here on only the current master key takes new rows. Waits for the inserts that hold an older one.
UPDATE master_key
SET retiring_at = CASE WHEN master_key_id = $1 THEN NULL ELSE now() END
WHERE (master_key_id = $1) = (retiring_at IS NOT NULL)
