SELECT annotation_id FROM rm_judgments
WHERE owner_id = $1 AND annotation_id = ANY ($2::uuid[])
