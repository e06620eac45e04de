COPY es_stream (stream, owner_id, version) FROM STDIN (FORMAT binary)
