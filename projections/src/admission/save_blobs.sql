INSERT INTO es_blob (owner_id, digest)
SELECT * FROM unnest($1::uuid[], $2::bytea[])
ON CONFLICT (owner_id, digest) DO NOTHING
