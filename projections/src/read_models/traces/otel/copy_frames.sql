COPY rm_otel_frames (owner_id, trace_id, subject_id, frame, content)
FROM STDIN (FORMAT binary)
