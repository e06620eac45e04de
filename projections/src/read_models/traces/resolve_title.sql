-- Which title is shown. `i` is what the import says (title, title_source, title_basis), `n` the trace's row of rm_trace_titles or
-- nothing. A person's title stands whatever else there is; a generated one stands in the place of a derived one, for as long as it
-- is about the same message.
CROSS JOIN LATERAL (
    SELECT n.edited IS NOT NULL AS is_edited,
        n.edited IS NULL AND n.generated IS NOT NULL AND i.title_source = 'derived'
            AND n.generated_basis IS NOT DISTINCT FROM i.title_basis AS is_generated,
        n.edited IS NULL AND n.failed_code IS NOT NULL AND i.title_source = 'derived'
            AND n.failed_basis IS NOT DISTINCT FROM i.title_basis AS has_failed
) AS said
CROSS JOIN LATERAL (
    SELECT CASE WHEN said.is_edited THEN n.edited WHEN said.is_generated THEN n.generated ELSE i.title END AS title,
        CASE WHEN said.is_edited THEN 'edited' WHEN said.is_generated THEN 'generated' ELSE i.title_source END AS title_source,
        CASE WHEN said.is_edited OR said.is_generated THEN i.title END AS import_title,
        CASE WHEN said.is_edited OR said.is_generated THEN i.title_source END AS import_title_source,
        i.title_source = 'derived' AND NOT coalesce(said.is_edited, false)
            AND (n.requested_at IS NOT NULL OR NOT coalesce(said.is_generated, false) AND NOT coalesce(said.has_failed, false))
            AS title_wanted,
        CASE WHEN said.has_failed THEN n.failed_message END AS title_error
) AS shown
