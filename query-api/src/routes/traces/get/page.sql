-- One trace, as a page of its own.
, page AS (
    SELECT t.*, t.metadata AS shown_metadata, 0::double precision AS sort_key
    FROM rm_traces AS t
    WHERE t.owner_id = $1 AND t.trace_id = $3
)
