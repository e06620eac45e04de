-- What was said of a title, one of it at a time ($3): edited, generated, failed or requested. Of a trace that is there only.
INSERT INTO rm_trace_titles AS n (owner_id, trace_id, edited, generated, generated_basis, generated_model, failed_code,
    failed_message, failed_basis, requested_at)
SELECT $1::uuid, $2::uuid,
    CASE WHEN $3::text = 'edited' THEN $4::text END,
    CASE WHEN $3::text = 'generated' THEN $4::text END,
    CASE WHEN $3::text = 'generated' THEN $5::bytea END,
    CASE WHEN $3::text = 'generated' THEN $6::text END,
    CASE WHEN $3::text = 'failed' THEN $7::text END,
    CASE WHEN $3::text = 'failed' THEN $4::text END,
    CASE WHEN $3::text = 'failed' THEN $5::bytea END,
    CASE WHEN $3::text = 'requested' THEN $8::bigint END
FROM rm_traces AS t
WHERE t.owner_id = $1 AND t.trace_id = $2
ON CONFLICT (owner_id, trace_id) DO UPDATE
SET edited = CASE WHEN $3::text = 'edited' THEN excluded.edited ELSE n.edited END,
    generated = CASE WHEN $3::text = 'generated' THEN excluded.generated ELSE n.generated END,
    generated_basis = CASE WHEN $3::text = 'generated' THEN excluded.generated_basis ELSE n.generated_basis END,
    generated_model = CASE WHEN $3::text = 'generated' THEN excluded.generated_model ELSE n.generated_model END,
    failed_code = CASE WHEN $3::text = 'edited' THEN n.failed_code ELSE excluded.failed_code END,
    failed_message = CASE WHEN $3::text = 'edited' THEN n.failed_message ELSE excluded.failed_message END,
    failed_basis = CASE WHEN $3::text = 'edited' THEN n.failed_basis ELSE excluded.failed_basis END,
    requested_at = CASE WHEN $3::text = 'edited' THEN n.requested_at ELSE excluded.requested_at END
