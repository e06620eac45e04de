-- The page with what is counted for each of its traces.
SELECT page.trace_id, page.external_id, page.title, page.title_source, page.title_error, page.source_format, page.step_count,
    page.action_count, page.span_count, page.created_at, page.shown_metadata, page.sort_key,
    counts.positive_count, counts.negative_count, counts.comment_count, counts.label_error_count,
    latest.reward_model_id AS latest_reward_model_id, latest.reward_model_name AS latest_reward_model_name,
    latest.score AS latest_score
FROM page
CROSS JOIN LATERAL (
    -- Labels flagged as wrong train nothing, so they are not counted as ratings.
    SELECT count(*) FILTER (WHERE v.rating = 1 AND NOT v.label_error) AS positive_count,
        count(*) FILTER (WHERE v.rating = -1 AND NOT v.label_error) AS negative_count,
        count(*) FILTER (WHERE v.comment IS NOT NULL) AS comment_count,
        count(*) FILTER (WHERE v.label_error) AS label_error_count
    FROM visible AS v
    WHERE v.trace_id = page.trace_id
) AS counts
LEFT JOIN LATERAL (
    SELECT s.reward_model_id, s.reward_model_name, s.score
    FROM current_scores AS s
    WHERE s.trace_id = page.trace_id
    ORDER BY s.created_at DESC, s.reward_model_id
    LIMIT 1
) AS latest ON true
ORDER BY page.sort_key, page.trace_id
