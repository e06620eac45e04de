-- How many of these traces there were before this import. A repeat of the import finds the traces that it made itself: they
-- have the import's own content subject and were not changed since they were made.
SELECT count(*)
FROM rm_traces AS trace
JOIN unnest($2::uuid[], $3::uuid[]) AS begun (trace_id, subject_id) ON begun.trace_id = trace.trace_id
WHERE trace.owner_id = $1 AND NOT (trace.subject_id = begun.subject_id AND trace.created_at = trace.updated_at)
