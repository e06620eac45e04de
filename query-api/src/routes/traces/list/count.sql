SELECT count(*) FROM matching
