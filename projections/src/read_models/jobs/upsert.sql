INSERT INTO rm_jobs (owner_id, job_id, kind, compute, reward_model_id, run_id, state, attempt, worker, phase, fraction,
    curve, error_code, error, cancel_requested, created_at, started_at, updated_at, finished_at, version)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::uuid[], $7::text[], $8::integer[],
    $9::text[], $10::text[], $11::double precision[], $12::text[], $13::text[], $14::text[], $15::boolean[], $16::bigint[],
    $17::bigint[], $18::bigint[], $19::bigint[], $20::bigint[])
ON CONFLICT (owner_id, job_id) DO UPDATE
SET state = excluded.state, attempt = excluded.attempt, worker = excluded.worker, phase = excluded.phase,
    fraction = excluded.fraction, curve = excluded.curve, error_code = excluded.error_code, error = excluded.error,
    cancel_requested = excluded.cancel_requested, started_at = excluded.started_at, updated_at = excluded.updated_at,
    finished_at = excluded.finished_at, version = excluded.version
