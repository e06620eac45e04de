-- Removes the steps and spans of traces that are about to be written anew. Traces that are new find nothing by the primary key.
WITH steps AS (
    DELETE FROM rm_steps WHERE owner_id = $1 AND trace_id = ANY($2)
)
DELETE FROM rm_spans WHERE owner_id = $1 AND trace_id = ANY($2)
