-- The next rows under an older master key (the last one of the batch before is none any more), locked until they are rewrapped, so that a deletion is not undone.
SELECT owner_id, subject_id, master_key_id, wrapped
FROM subject_key
WHERE (owner_id, subject_id) >= ($1, $2) AND master_key_id <> $3
ORDER BY owner_id, subject_id
LIMIT $4
FOR UPDATE
