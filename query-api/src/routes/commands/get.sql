-- The verdict on a command of the owner.
SELECT verdict, stream, expected, actual, partition, "offset" FROM es_command WHERE owner_id = $1 AND command_id = $2
