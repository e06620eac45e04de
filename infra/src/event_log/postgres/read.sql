SELECT partition, "offset", time_us, key, value FROM log_read($1, $2, $3, $4)
