SELECT EXISTS (SELECT FROM subject_key WHERE owner_id = $1 AND subject_id = ANY ($2))
