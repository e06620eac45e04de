-- The log's identity, what it says of its partitions, and how many there are.
SELECT id, partitions, (SELECT count(*) FROM log_partition) FROM log_meta
