SELECT coalesce(bool_or('lz4' = ANY (enumvals)), false) FROM pg_settings WHERE name = 'default_toast_compression'
