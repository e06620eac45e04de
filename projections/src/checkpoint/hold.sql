-- Holds a partition still: its projector waits at its next batch until this transaction ends.
SELECT next_offset FROM es_checkpoint WHERE partition = $1 AND log_id = $2 FOR UPDATE
