-- Digest of the first user message of each of some traces.
SELECT DISTINCT ON (s.trace_id) s.trace_id, sha256(convert_to(s.content, 'UTF8')) AS digest
FROM rm_steps AS s
WHERE s.owner_id = $1 AND s.trace_id = ANY($2) AND s.role = 'user'
ORDER BY s.trace_id, s.idx
