INSERT INTO rm_trace_subjects (owner_id, trace_id, subject_id)
SELECT $1, subject.* FROM unnest($2::uuid[], $3::uuid[]) AS subject
ON CONFLICT DO NOTHING
