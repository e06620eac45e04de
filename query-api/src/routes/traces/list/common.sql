-- What several reads of traces start from. Each part is put in place where it is used, so an unused one costs nothing.
--   $1  the owner
--   $2  the one model whose scores count; null: all models
WITH visible AS NOT MATERIALIZED (
    -- An annotation on a step that no longer exists is neither shown nor counted. A join, since over many annotations it can be
    -- done by hashing; a step stands at most once in its trace.
    SELECT a.trace_id, a.rating, a.comment, a.label_error
    FROM rm_annotations AS a
    LEFT JOIN rm_steps AS s ON s.owner_id = a.owner_id AND s.step_id = a.step_id AND s.trace_id = a.trace_id
    WHERE a.owner_id = $1 AND (a.step_id IS NULL OR s.step_id IS NOT NULL)
), current_scores AS NOT MATERIALIZED (
    -- A score counts only while the text it was made from still stands.
    SELECT s.trace_id, s.reward_model_id, m.name AS reward_model_name, s.score, s.dropped_tokens, s.created_at
    FROM rm_trace_scores AS s
    JOIN rm_traces AS t ON t.owner_id = s.owner_id AND t.trace_id = s.trace_id AND t.trace_digest = s.trace_digest
    JOIN rm_reward_models AS m ON m.owner_id = s.owner_id AND m.reward_model_id = s.reward_model_id
    WHERE s.owner_id = $1 AND ($2::uuid IS NULL OR s.reward_model_id = $2)
), latest_scores AS NOT MATERIALIZED (
    SELECT DISTINCT ON (s.trace_id) s.trace_id, s.score
    FROM current_scores AS s
    ORDER BY s.trace_id, s.created_at DESC, s.reward_model_id
)
