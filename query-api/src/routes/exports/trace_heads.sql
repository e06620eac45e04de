-- What stands beside the steps of some traces, in the order given.
SELECT t.external_id, t.title, t.title_source, t.metadata
FROM unnest($2::uuid[]) WITH ORDINALITY AS wanted (trace_id, ordinal)
JOIN rm_traces AS t ON t.owner_id = $1 AND t.trace_id = wanted.trace_id
ORDER BY wanted.ordinal
