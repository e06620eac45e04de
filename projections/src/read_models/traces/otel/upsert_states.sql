INSERT INTO rm_otel_states (owner_id, trace_id, memo)
SELECT $1, t.* FROM unnest($2::uuid[], $3::bytea[]) AS t
ON CONFLICT (owner_id, trace_id) DO UPDATE SET memo = excluded.memo
