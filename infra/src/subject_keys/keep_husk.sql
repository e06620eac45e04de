INSERT INTO erased_blob (owner_id, digest, husk) VALUES ($1, $2, $3) ON CONFLICT (owner_id, digest) DO NOTHING
