SELECT master_key_id FROM master_key
