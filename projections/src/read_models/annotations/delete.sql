DELETE FROM rm_annotations
WHERE (owner_id, annotation_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
