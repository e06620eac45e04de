WITH steps AS (
    DELETE FROM rm_steps WHERE owner_id = $1 AND trace_id = $2
), spans AS (
    DELETE FROM rm_spans WHERE owner_id = $1 AND trace_id = $2
), frames AS (
    DELETE FROM rm_otel_frames WHERE owner_id = $1 AND trace_id = $2
), sent AS (
    DELETE FROM rm_otel_spans WHERE owner_id = $1 AND trace_id = $2
), sent_traces AS (
    DELETE FROM rm_otel_traces WHERE owner_id = $1 AND trace_id = $2
), titles AS (
    DELETE FROM rm_trace_titles WHERE owner_id = $1 AND trace_id = $2
), states AS (
    DELETE FROM rm_otel_states WHERE owner_id = $1 AND trace_id = $2
)
DELETE FROM rm_traces WHERE owner_id = $1 AND trace_id = $2
