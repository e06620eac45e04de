SELECT digest FROM es_blob WHERE owner_id = $1 AND digest = ANY ($2)
