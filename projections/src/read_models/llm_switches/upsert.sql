INSERT INTO rm_llm_switches (owner_id, purpose, allowed, updated_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (owner_id, purpose) DO UPDATE SET allowed = excluded.allowed, updated_at = excluded.updated_at
