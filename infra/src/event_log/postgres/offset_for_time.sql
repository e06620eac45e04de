SELECT log_offset_for_time($1, $2)
