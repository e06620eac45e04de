-- As newest.sql, after the row with sort key $19 and id $20. In two ranges, each of which the index gives in order: an import
-- may have made very many traces at one moment.
, page AS (
    SELECT t.*, NULL::text AS shown_metadata, -t.created_at::double precision AS sort_key
    FROM (
        (
            SELECT * FROM matching
            WHERE created_at = (-$19::double precision)::bigint AND trace_id > $20::uuid
            ORDER BY created_at DESC, trace_id
            LIMIT $17
        )
        UNION ALL
        (
            SELECT * FROM matching
            WHERE created_at < (-$19::double precision)::bigint
            ORDER BY created_at DESC, trace_id
            LIMIT $17
        )
    ) AS t
    ORDER BY t.created_at DESC, t.trace_id
    LIMIT $17 OFFSET $18
)
