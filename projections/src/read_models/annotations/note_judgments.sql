INSERT INTO rm_judgments (owner_id, annotation_id, trace_id)
SELECT $1, annotation_id, $3 FROM unnest($2::uuid[]) AS brought (annotation_id)
ON CONFLICT (owner_id, annotation_id) DO NOTHING
