SELECT run.trace_id, trace.trace_digest, model.artifact_key, model.artifact_digest, model.action_mean, model.action_std
FROM rm_scoring_runs AS run
JOIN rm_traces AS trace ON trace.owner_id = run.owner_id AND trace.trace_id = run.trace_id
JOIN rm_reward_models AS model ON model.owner_id = run.owner_id AND model.reward_model_id = run.reward_model_id
WHERE run.owner_id = $1 AND run.run_id = $2
