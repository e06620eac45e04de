SELECT EXISTS (SELECT FROM es_stream WHERE owner_id = $1)
