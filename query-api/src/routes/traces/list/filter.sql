-- The traces that a request's filters let through; a filter that is null lets everything through.
, matching AS NOT MATERIALIZED (
    SELECT t.*
    FROM rm_traces AS t
    WHERE t.owner_id = $1
        AND ($3::text IS NULL OR t.external_id = $3)
        AND ($4::text IS NULL OR t.source_format = $4)
        AND ($5::bigint IS NULL OR t.created_at >= $5)
        AND ($6::bigint IS NULL OR t.created_at < $6)
        -- $7 and $8: keys of the metadata, and the text that each must have. As json, since jsonb refuses some numbers.
        AND ($7::text[] IS NULL OR NOT EXISTS (
            SELECT FROM unnest($7, $8::text[]) AS wanted (key, value)
            WHERE t.metadata::json ->> wanted.key IS DISTINCT FROM wanted.value
        ))
        -- A CASE, because the sides of an AND are evaluated in any order and only an array has elements.
        AND ($9::text IS NULL OR CASE json_typeof(t.metadata::json -> 'tags')
            WHEN 'array' THEN EXISTS (
                SELECT FROM json_array_elements_text(t.metadata::json -> 'tags') AS tag (name) WHERE tag.name = $9
            )
            ELSE false
        END)
        AND ($10::text IS NULL OR EXISTS (
            SELECT FROM rm_steps AS s
            WHERE s.owner_id = t.owner_id AND s.trace_id = t.trace_id AND s.tool_name = $10
        ))
        AND ($11::boolean IS NULL OR $11 = EXISTS (
            SELECT FROM visible AS v WHERE v.trace_id = t.trace_id AND v.comment IS NOT NULL
        ))
        AND ($12::boolean IS NULL OR $12 = EXISTS (
            SELECT FROM visible AS v WHERE v.trace_id = t.trace_id AND v.label_error
        ))
        -- As in the counts, a rating flagged as wrong is none.
        AND ($13::smallint IS NULL OR EXISTS (
            SELECT FROM visible AS v WHERE v.trace_id = t.trace_id AND v.rating = $13 AND NOT v.label_error
        ))
        AND ($14::double precision IS NULL AND $15::double precision IS NULL OR EXISTS (
            SELECT FROM latest_scores AS l
            WHERE l.trace_id = t.trace_id
                AND l.score BETWEEN coalesce($14, '-Infinity'::double precision) AND coalesce($15, 'Infinity'::double precision)
        ))
        -- $16 is a pattern, made by escaping what was searched for. Last, because it reads the most.
        AND ($16::text IS NULL OR t.title ILIKE $16 OR EXISTS (
            SELECT FROM rm_steps AS s
            WHERE s.owner_id = t.owner_id AND s.trace_id = t.trace_id AND s.content ILIKE $16
        ))
)
