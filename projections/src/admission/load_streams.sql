SELECT stream, version FROM es_stream WHERE stream = ANY($1)
