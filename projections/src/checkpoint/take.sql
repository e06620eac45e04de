-- Takes over a partition: a higher epoch makes every commit of the former holder fail its compare-and-swap.
INSERT INTO es_checkpoint (partition, log_id, next_offset, epoch)
SELECT partition, $2, 0, 1 FROM unnest($1::integer[]) AS taken (partition)
ON CONFLICT (partition) DO UPDATE SET epoch = es_checkpoint.epoch + 1
RETURNING partition, log_id, next_offset, epoch
