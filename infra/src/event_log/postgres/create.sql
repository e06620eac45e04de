-- Makes the log, unless there is one. The second of two that try at once waits for the first and then inserts nothing.
WITH made AS (
    INSERT INTO log_meta (partitions) VALUES ($1) ON CONFLICT DO NOTHING RETURNING partitions
)
INSERT INTO log_partition (partition)
SELECT number FROM made, generate_series(0, made.partitions - 1) AS number
