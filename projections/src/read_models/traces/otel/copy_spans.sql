COPY rm_otel_spans (owner_id, trace_id, span_id, record, subject_id, frame, place)
FROM STDIN (FORMAT binary)
