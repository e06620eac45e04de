-- The payload names the process that appended, so that it can ignore its own notice.
SELECT pg_notify('stash_log', $1)
