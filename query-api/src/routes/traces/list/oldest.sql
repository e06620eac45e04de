-- As newest.sql, the other way round.
, page AS (
    SELECT t.*, NULL::text AS shown_metadata, t.created_at::double precision AS sort_key
    FROM matching AS t
    WHERE $19::double precision IS NULL OR (
        t.created_at >= $19::bigint AND (t.created_at > $19::bigint OR t.trace_id > $20::uuid)
    )
    ORDER BY t.created_at, t.trace_id
    LIMIT $17 OFFSET $18
)
