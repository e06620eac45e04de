-- $17 rows after the first $18. The smallest sort key comes first, in every order; microseconds of this era are exact in it.
, page AS (
    SELECT t.*, NULL::text AS shown_metadata, -t.created_at::double precision AS sort_key
    FROM matching AS t
    -- Not given in this statement; named so that all have the same parameters.
    WHERE $19::double precision IS NULL AND $20::uuid IS NULL
    ORDER BY t.created_at DESC, t.trace_id
    LIMIT $17 OFFSET $18
)
