INSERT INTO rm_spans (owner_id, trace_id, idx, span_id, parent_id, name, kind, start_ns, end_ns, input, output, step_indices)
SELECT $1, span.trace_id, span.idx, span.span_id, span.parent_id, span.name, span.kind, span.start_ns::numeric,
    span.end_ns::numeric, span.input, span.output, span.step_indices::integer[]
FROM unnest($2::uuid[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
    $11::text[], $12::text[])
    AS span (trace_id, idx, span_id, parent_id, name, kind, start_ns, end_ns, input, output, step_indices)
