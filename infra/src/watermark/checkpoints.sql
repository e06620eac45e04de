SELECT partition, next_offset FROM es_checkpoint
