-- Whether a record that is put aside could not be read: nobody knows what that one points at.
SELECT EXISTS (SELECT FROM dead_letter WHERE cardinality(scopes) = 0)
