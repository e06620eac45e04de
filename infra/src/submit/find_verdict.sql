-- The verdict on a command; the projector that judged it may run in another process.
SELECT verdict, stream, expected, actual, request_digest, log_time
FROM es_command
WHERE command_id = $1
