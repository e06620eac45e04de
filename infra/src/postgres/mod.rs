//! Postgres: the embedded server, connections, migrations, and the scope of one owner.

pub mod embedded;
