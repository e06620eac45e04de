-- Of these streams, those that have a dead letter: everything after it waits behind it, in order.
SELECT DISTINCT parked.stream
FROM dead_letter, unnest(streams) AS parked (stream)
WHERE streams && $1::text[] AND parked.stream = ANY($1::text[])
