SELECT partition, log_id, next_offset FROM {schema}.es_checkpoint ORDER BY partition
