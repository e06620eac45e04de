-- A deleted trace takes its annotations along.
DELETE FROM rm_annotations
WHERE (owner_id, trace_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
