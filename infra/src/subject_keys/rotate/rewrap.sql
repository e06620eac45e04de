UPDATE subject_key
SET master_key_id = $1, wrapped = new.wrapped
FROM unnest($2::uuid[], $3::uuid[], $4::bytea[]) AS new (owner_id, subject_id, wrapped)
WHERE subject_key.owner_id = new.owner_id AND subject_key.subject_id = new.subject_id
