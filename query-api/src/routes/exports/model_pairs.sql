-- The exact pairs of a model after number $3, as far as $4 pairs and $5 bytes go; always at least one, if there is one.
SELECT p.ordinal, p.chosen, p.rejected, p.chosen_trace_id, p.rejected_trace_id, p.granularity, p.action_type, p.source,
    p.generated, p.evidence
FROM (
    SELECT b.*, row_number() OVER in_order AS nth, sum(b.bytes) OVER in_order AS bytes_so_far
    FROM (
        SELECT c.ordinal, c.text AS chosen, r.text AS rejected, c.trace_id AS chosen_trace_id,
            r.trace_id AS rejected_trace_id, c.granularity, c.action_type, c.source,
            CASE WHEN c.revised THEN 'chosen' WHEN r.revised THEN 'rejected' END AS generated, c.evidence,
            octet_length(c.text)::bigint + octet_length(r.text) AS bytes
        FROM rm_training_pairs AS c
        -- Both sides or nothing: half a pair teaches nothing.
        JOIN rm_training_pairs AS r ON r.owner_id = c.owner_id AND r.reward_model_id = c.reward_model_id
            AND r.ordinal = c.ordinal AND r.side = 'rejected'
        WHERE c.owner_id = $1 AND c.reward_model_id = $2 AND c.side = 'chosen' AND c.ordinal > $3
        ORDER BY c.ordinal
        LIMIT $4
    ) AS b
    WINDOW in_order AS (ORDER BY b.ordinal)
) AS p
WHERE p.nth = 1 OR p.bytes_so_far <= $5::bigint
ORDER BY p.ordinal
