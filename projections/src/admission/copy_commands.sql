COPY es_command (command_id, owner_id, verdict, stream, expected, actual, request_digest, log_time, partition, "offset")
FROM STDIN (FORMAT binary)
