-- Several processes may come at once; one write is enough.
UPDATE api_key
SET last_used_at = t.now
FROM (SELECT timestamptz 'epoch' + $2::bigint * interval '1 microsecond') AS t (now)
WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= t.now - interval '1 hour')
