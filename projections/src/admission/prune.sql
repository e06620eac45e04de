-- Verdicts that are forgotten, by the times of their partitions.
DELETE FROM es_command AS command
USING unnest($1::integer[], $2::bigint[]) AS forgotten (partition, before)
WHERE command.partition = forgotten.partition AND command.log_time < forgotten.before
