-- As newest.sql, the highest score first; traces without a score come last.
, page AS (
    SELECT t.*, NULL::text AS shown_metadata, key.sort_key
    FROM matching AS t
    LEFT JOIN latest_scores AS latest ON latest.trace_id = t.trace_id
    CROSS JOIN LATERAL (SELECT coalesce(-latest.score, 'Infinity'::double precision) AS sort_key) AS key
    WHERE $19::double precision IS NULL OR (key.sort_key, t.trace_id) > ($19, $20::uuid)
    ORDER BY key.sort_key, t.trace_id
    LIMIT $17 OFFSET $18
)
