-- All annotations that are shown, oldest first, read through a cursor.
DECLARE annotations NO SCROLL CURSOR FOR
SELECT a.trace_id, t.external_id AS trace_external_id, s.idx AS step_index, a.rating, a.comment, a.quote, a.label_error,
    a.author_name AS author, a.source, a.created_at
FROM rm_annotations AS a
JOIN rm_traces AS t ON t.owner_id = a.owner_id AND t.trace_id = a.trace_id
LEFT JOIN rm_steps AS s ON s.owner_id = a.owner_id AND s.step_id = a.step_id AND s.trace_id = a.trace_id
WHERE a.owner_id = $1
    -- On a step that no longer exists: not shown.
    AND (a.step_id IS NULL OR s.step_id IS NOT NULL)
ORDER BY a.created_at, a.annotation_id
