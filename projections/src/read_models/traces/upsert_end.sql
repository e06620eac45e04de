ON CONFLICT (owner_id, trace_id) DO UPDATE
SET subject_id = excluded.subject_id, external_id = excluded.external_id, title = excluded.title,
    title_source = excluded.title_source, source_format = excluded.source_format, metadata = excluded.metadata,
    step_count = excluded.step_count, action_count = excluded.action_count, span_count = excluded.span_count,
    trace_digest = excluded.trace_digest, updated_at = excluded.updated_at, import_title = excluded.import_title,
    import_title_source = excluded.import_title_source, title_basis = excluded.title_basis,
    title_wanted = excluded.title_wanted, title_error = excluded.title_error
