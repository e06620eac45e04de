-- A verdict that has left the window of memory may be replaced by that of a new command with the same id.
INSERT INTO es_command (command_id, owner_id, verdict, stream, expected, actual, request_digest, log_time, partition, "offset")
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bytea[], $8::bigint[],
    $9::integer[], $10::bigint[])
ON CONFLICT (command_id) DO UPDATE
SET owner_id = excluded.owner_id, verdict = excluded.verdict, stream = excluded.stream, expected = excluded.expected,
    actual = excluded.actual, request_digest = excluded.request_digest, log_time = excluded.log_time,
    partition = excluded.partition, "offset" = excluded."offset"
