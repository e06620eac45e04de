-- Frames that nothing stands in any more, because all of it was sent again with other content.
DELETE FROM rm_otel_frames AS f
USING unnest($2::uuid[]) AS wanted (trace_id)
WHERE f.owner_id = $1 AND f.trace_id = wanted.trace_id
    AND NOT EXISTS (
        SELECT FROM rm_otel_spans AS s
        WHERE s.owner_id = $1 AND s.trace_id = f.trace_id AND s.subject_id = f.subject_id AND s.frame = f.frame
    )
