-- A pair of which one side has been erased teaches nothing: its other side goes too.
DELETE FROM rm_training_pairs AS side
WHERE side.owner_id = $1 AND side.reward_model_id = $2
    AND NOT EXISTS (
        SELECT FROM rm_training_pairs AS other
        WHERE other.owner_id = side.owner_id AND other.reward_model_id = side.reward_model_id
            AND other.ordinal = side.ordinal AND other.side <> side.side
    )
