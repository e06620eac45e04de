WITH steps AS (
    DELETE FROM rm_steps WHERE owner_id = $1 AND trace_id = $2
), spans AS (
    DELETE FROM rm_spans WHERE owner_id = $1 AND trace_id = $2
)
DELETE FROM rm_traces WHERE owner_id = $1 AND trace_id = $2
