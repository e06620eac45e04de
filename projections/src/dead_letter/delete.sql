DELETE FROM dead_letter WHERE partition = $1 AND "offset" = $2
