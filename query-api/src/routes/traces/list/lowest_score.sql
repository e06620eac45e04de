-- As newest.sql, the lowest score first; traces without a score come last.
, page AS (
    SELECT t.*, NULL::text AS shown_metadata, key.sort_key
    FROM matching AS t
    LEFT JOIN LATERAL (
        SELECT s.score FROM current_scores AS s
        WHERE s.trace_id = t.trace_id
        ORDER BY s.created_at DESC, s.reward_model_id
        LIMIT 1
    ) AS latest ON true
    CROSS JOIN LATERAL (SELECT coalesce(latest.score, 'Infinity'::double precision) AS sort_key) AS key
    WHERE $19::double precision IS NULL OR (key.sort_key, t.trace_id) > ($19, $20::uuid)
    ORDER BY key.sort_key, t.trace_id
    LIMIT $17 OFFSET $18
)
