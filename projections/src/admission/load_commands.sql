SELECT command_id, verdict, stream, expected, actual, request_digest, log_time
FROM es_command
WHERE command_id = ANY($1)
