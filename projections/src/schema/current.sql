-- The schema that the view of the checkpoints selects from.
SELECT table_schema
FROM information_schema.view_table_usage
WHERE view_schema = 'rm' AND view_name = 'es_checkpoint'
