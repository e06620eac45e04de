-- As newest.sql, the longest trace first.
, page AS (
    SELECT t.*, NULL::text AS shown_metadata, -t.step_count::double precision AS sort_key
    FROM matching AS t
    WHERE $19::double precision IS NULL OR (-t.step_count::double precision, t.trace_id) > ($19, $20::uuid)
    ORDER BY -t.step_count::double precision, t.trace_id
    LIMIT $17 OFFSET $18
)
