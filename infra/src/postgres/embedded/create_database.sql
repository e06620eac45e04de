-- The cluster is ours alone, and so is its one database. Copied from template0, so that nothing of template1 comes along.
CREATE DATABASE stash TEMPLATE template0 ENCODING 'UTF8'
