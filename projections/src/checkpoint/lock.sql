SELECT partition, next_offset FROM {schema}.es_checkpoint ORDER BY partition FOR UPDATE
