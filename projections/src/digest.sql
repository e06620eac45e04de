SELECT count(*), coalesce(sum(hashtextextended(r::text, 0)::numeric), 0)::text FROM {table} AS r
