-- 150013 for 15.13.
SELECT current_setting('server_version_num')::int
