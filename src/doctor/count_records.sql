SELECT sum(next_offset)::bigint FROM public.log_partition
