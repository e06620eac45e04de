-- The first of each stream is what parked it; the others wait behind it.
SELECT partition, "offset", owner_id, streams, code FROM dead_letter ORDER BY partition, "offset" LIMIT $1
