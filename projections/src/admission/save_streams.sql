INSERT INTO es_stream (stream, owner_id, version)
SELECT * FROM unnest($1::text[], $2::uuid[], $3::bigint[])
ON CONFLICT (stream) DO UPDATE SET version = excluded.version
