-- Also against checkpoints that are not there yet: whoever takes or moves one waits until this transaction ends.
LOCK TABLE {schema}.es_checkpoint IN EXCLUSIVE MODE
