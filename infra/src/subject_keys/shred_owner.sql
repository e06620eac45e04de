DELETE FROM subject_key WHERE owner_id = $1
