SELECT count(*), coalesce(sum(hash_record_extended(r, 0)::numeric), 0)::text FROM {table} AS r
