-- The dead letters after a place, in order.
SELECT partition, "offset", scopes
FROM dead_letter
WHERE (partition, "offset") > ($1, $2)
ORDER BY partition, "offset"
LIMIT $3
