-- What several reads of traces start from. Each part is put in place where it is used, so an unused one costs nothing.
--   $1  the owner
--   $2  the one model whose scores count; null: all models
WITH visible AS NOT MATERIALIZED (
    -- An annotation on a step that no longer exists is neither shown nor counted.
    SELECT a.*
    FROM rm_annotations AS a
    WHERE a.owner_id = $1
        AND (a.step_id IS NULL OR EXISTS (
            SELECT FROM rm_steps AS s
            WHERE s.owner_id = a.owner_id AND s.step_id = a.step_id AND s.trace_id = a.trace_id
        ))
), current_scores AS NOT MATERIALIZED (
    -- A score counts only while the text it was made from still stands.
    SELECT s.trace_id, s.reward_model_id, m.name AS reward_model_name, s.score, s.dropped_tokens, s.created_at
    FROM rm_trace_scores AS s
    JOIN rm_traces AS t ON t.owner_id = s.owner_id AND t.trace_id = s.trace_id AND t.trace_digest = s.trace_digest
    JOIN rm_reward_models AS m ON m.owner_id = s.owner_id AND m.reward_model_id = s.reward_model_id
    WHERE s.owner_id = $1 AND ($2::uuid IS NULL OR s.reward_model_id = $2)
)
