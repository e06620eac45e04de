-- The tails of some partitions, with the id of the log that they belong to.
SELECT m.id, p.partition, p.next_offset FROM log_meta m CROSS JOIN log_partition p WHERE p.partition = ANY ($1)
