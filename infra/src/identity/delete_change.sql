DELETE FROM identity_change WHERE id = $1
