-- Whether any record is put aside, and whether one of them could not be read: nobody knows what that one points at.
SELECT count(*) > 0, count(*) FILTER (WHERE cardinality(scopes) = 0) > 0 FROM dead_letter
