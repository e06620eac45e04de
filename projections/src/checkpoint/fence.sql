-- Whoever held these partitions is refused at its next commit.
UPDATE {schema}.es_checkpoint SET epoch = epoch + 1
