-- Annotations by id, but for those on a step that no longer exists. LIMIT keeps each look-up an index look-up of its own,
-- whatever the planner thinks of the tables' sizes.
SELECT found.*
FROM unnest($2::uuid[]) AS wanted (annotation_id)
CROSS JOIN LATERAL (
    SELECT a.annotation_id AS id, a.trace_id, a.step_id, a.rating, a.comment, a.quote, a.label_error, a.label_error_note,
        a.author_id, a.author_name, a.source, a.created_at, a.updated_at, a.version
    FROM rm_annotations AS a
    WHERE a.owner_id = $1 AND a.annotation_id = wanted.annotation_id
        AND (a.step_id IS NULL OR EXISTS (
            SELECT FROM rm_steps AS s
            WHERE s.owner_id = a.owner_id AND s.step_id = a.step_id AND s.trace_id = a.trace_id
        ))
    LIMIT 1
) AS found
