-- Of these scopes, those that have a dead letter: everything after it waits behind it, in order.
SELECT DISTINCT parked.scope
FROM dead_letter, unnest(scopes) AS parked (scope)
WHERE scopes && $1::text[] AND parked.scope = ANY($1::text[])
