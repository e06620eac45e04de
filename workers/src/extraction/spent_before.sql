-- What a job's calls took so far. Sums of bigint are numeric, and the last column counts calls without a price.
SELECT count(*), coalesce(sum(input_tokens), 0)::bigint, coalesce(sum(output_tokens), 0)::bigint,
    coalesce(sum(cost_micros), 0)::bigint, count(*) FILTER (WHERE cost_micros IS NULL)
FROM rm_judge_calls
WHERE owner_id = $1 AND job_id = $2
