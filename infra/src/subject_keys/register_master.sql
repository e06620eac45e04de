INSERT INTO master_key (master_key_id) VALUES ($1) ON CONFLICT (master_key_id) DO NOTHING
