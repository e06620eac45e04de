-- Shows what is to be shown now that something was said of a trace's title. Around resolve_title.sql.
UPDATE rm_traces AS t
SET title = resolved.title, title_source = resolved.title_source, import_title = resolved.import_title,
    import_title_source = resolved.import_title_source, title_wanted = resolved.title_wanted, title_error = resolved.title_error
FROM (
    SELECT shown.*
    FROM (
        SELECT coalesce(c.import_title, c.title) AS title, coalesce(c.import_title_source, c.title_source) AS title_source,
            c.title_basis
        FROM rm_traces AS c
        WHERE c.owner_id = $1 AND c.trace_id = $2
    ) AS i
    LEFT JOIN rm_trace_titles AS n ON n.owner_id = $1 AND n.trace_id = $2
