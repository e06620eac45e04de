COPY rm_spans (owner_id, trace_id, idx, span_id, parent_id, name, kind, start_ns, end_ns, input, output, said_bytes, step_indices)
FROM STDIN (FORMAT binary)
