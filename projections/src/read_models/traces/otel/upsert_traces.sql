INSERT INTO rm_otel_traces (owner_id, trace_id, external_id, span_count, log_count, first_ns, last_ns, has_messages, stands,
    created_at, updated_at)
SELECT $1, t.trace_id, t.external_id, t.span_count, t.log_count, t.first_ns::numeric, t.last_ns::numeric, t.has_messages,
    t.stands, t.created_at, t.updated_at
FROM unnest($2::uuid[], $3::text[], $4::integer[], $5::integer[], $6::text[], $7::text[], $8::boolean[], $9::boolean[],
    $10::bigint[], $11::bigint[])
    AS t (trace_id, external_id, span_count, log_count, first_ns, last_ns, has_messages, stands, created_at, updated_at)
ON CONFLICT (owner_id, trace_id) DO UPDATE
SET span_count = excluded.span_count, log_count = excluded.log_count, first_ns = excluded.first_ns, last_ns = excluded.last_ns,
    has_messages = excluded.has_messages, stands = excluded.stands, updated_at = excluded.updated_at
