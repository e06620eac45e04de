SELECT husk FROM erased_blob WHERE owner_id = $1 AND digest = $2
