-- $17 rows after $18, or after the row with sort key $19 and id $20. The smallest sort key comes first, in every order.
, page AS (
    SELECT t.*, NULL::text AS shown_metadata, -t.created_at::double precision AS sort_key
    FROM matching AS t
    WHERE $19::double precision IS NULL OR (
        -- Microseconds of this era are exact in a double. The first condition is the one that the index understands.
        t.created_at <= (-$19)::bigint AND (t.created_at < (-$19)::bigint OR t.trace_id > $20::uuid)
    )
    ORDER BY t.created_at DESC, t.trace_id
    LIMIT $17 OFFSET $18
)
