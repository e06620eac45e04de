COPY rm_otel_spans (owner_id, trace_id, span_id, record, content)
FROM STDIN (FORMAT binary)
