-- Ratings that count, of traces and of actions that still exist, the newest $2, with what pairs need to know of their targets.
SELECT a.annotation_id, a.trace_id, a.step_id, a.author_id, a.rating, a.updated_at,
    a.source IS NOT NULL AND a.version = 0 AS imported, t.step_count, s.idx AS step_index,
    s.tool_name IS NOT NULL AS is_call, CASE WHEN a.step_id IS NULL THEN t.trace_digest ELSE s.action_digest END AS digest
FROM rm_annotations AS a
JOIN rm_traces AS t ON t.owner_id = a.owner_id AND t.trace_id = a.trace_id
LEFT JOIN rm_steps AS s ON s.owner_id = a.owner_id AND s.step_id = a.step_id AND s.trace_id = a.trace_id
WHERE a.owner_id = $1 AND a.rating IS NOT NULL AND NOT a.label_error
    -- A step without a digest is no action: nothing to learn from.
    AND (a.step_id IS NULL OR s.action_digest IS NOT NULL)
ORDER BY a.updated_at DESC, a.annotation_id
LIMIT $2
