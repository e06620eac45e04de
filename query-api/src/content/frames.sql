SELECT f.subject_id, f.frame, f.content
FROM unnest($3::uuid[], $4::integer[]) AS wanted (subject_id, frame)
JOIN rm_otel_frames AS f
    ON f.owner_id = $1 AND f.trace_id = $2 AND f.subject_id = wanted.subject_id AND f.frame = wanted.frame
