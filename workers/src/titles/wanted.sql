-- What somebody asked for comes first, then the newest of those imported after $1. Accounts that forbid titles are passed over.
WITH forbidden AS MATERIALIZED (
    SELECT s.owner_id FROM rm_llm_switches AS s WHERE s.purpose = 'titles' AND NOT s.allowed
), requested AS (
    SELECT t.owner_id, t.trace_id, t.title_basis, 0 AS turn, n.requested_at AS place
    FROM rm_trace_titles AS n
    JOIN rm_traces AS t ON t.owner_id = n.owner_id AND t.trace_id = n.trace_id
    WHERE n.requested_at IS NOT NULL AND t.title_wanted AND t.owner_id NOT IN (SELECT f.owner_id FROM forbidden AS f)
    ORDER BY n.requested_at
    LIMIT $2
), newest AS (
    SELECT t.owner_id, t.trace_id, t.title_basis, 1 AS turn, -t.created_at AS place
    FROM rm_traces AS t
    WHERE t.title_wanted AND t.created_at > $1 AND t.owner_id NOT IN (SELECT f.owner_id FROM forbidden AS f)
        AND NOT EXISTS (
            SELECT FROM rm_trace_titles AS n
            WHERE n.owner_id = t.owner_id AND n.trace_id = t.trace_id AND n.requested_at IS NOT NULL
        )
    ORDER BY t.created_at DESC
    LIMIT $2
)
SELECT found.owner_id, found.trace_id, found.title_basis
FROM (SELECT * FROM requested UNION ALL SELECT * FROM newest) AS found
ORDER BY found.turn, found.place
LIMIT $2
