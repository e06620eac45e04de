-- A hint for waiters in other processes; one per batch, because NOTIFY takes a database-wide lock at commit.
SELECT pg_notify('stash_applied', '')
