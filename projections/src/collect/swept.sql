INSERT INTO erased_sweep (owner_id, deletions) VALUES ($1, $2)
ON CONFLICT (owner_id) DO UPDATE SET deletions = excluded.deletions
