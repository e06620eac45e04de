-- Owners of whom traces were deleted since the collector last looked through their blobs, and how many were in all: a trace's
-- stream has nothing but its deletions. Not those of whom a record is put aside: what it points at is in no read model yet.
SELECT stream.owner_id, sum(stream.version)::bigint AS deletions
FROM es_stream AS stream
LEFT JOIN erased_sweep AS swept ON swept.owner_id = stream.owner_id
WHERE stream.stream LIKE 'trace/%'
    AND NOT EXISTS (SELECT FROM dead_letter AS letter WHERE letter.owner_id = stream.owner_id)
GROUP BY stream.owner_id, swept.deletions
HAVING sum(stream.version) > coalesce(swept.deletions, 0)
ORDER BY stream.owner_id
LIMIT $1
