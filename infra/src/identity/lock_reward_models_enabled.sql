-- Locked, so that two switches at once leave two changes in the order in which they took effect.
SELECT reward_models_enabled FROM account WHERE id = $1 FOR UPDATE
