-- What is kept of a question about a trace: its answer, or what this job got that was malformed.
SELECT call_key, answer FROM rm_judge_calls WHERE owner_id = $1 AND call_key = ANY($2) AND trace_id = $3
