-- Compare-and-swap: no row comes back for a partition that another projector has taken or moved.
UPDATE es_checkpoint AS c
SET next_offset = moved.next_offset
FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bigint[]) AS moved (partition, from_offset, next_offset, epoch)
WHERE c.partition = moved.partition
    AND c.next_offset = moved.from_offset
    AND c.epoch = moved.epoch
