//! What the system promises when parts of it die, go away or have no room left, shown on the real processes.
//!
//! Each test runs a deployment of separate processes (`stash serve --role …`) with a real Postgres, and where the log is in
//! Kafka a real broker. Clients change things all the while and keep a ledger of what they were told ([`support::ledger`]); at the
//! end the ledger, the read models, the log and a rebuild from it must agree.
//!
//! The faults are drawn from a seed, which is printed. Variables:
//!
//! | variable | default | what it sets |
//! |---|---|---|
//! | `STASH_FAULT_SEED` | drawn | the seed |
//! | `STASH_FAULT_KILLS` | 50; 25 under live spans | `kill -9` of each of API, projector, worker and trainer |
//! | `STASH_FAULT_AWAY_S` | 20 | seconds that Postgres or the broker is away |
//! | `STASH_FAULT_NO_MOUNT` | 0 | 1: do as if nothing could be mounted |

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod away;
mod full_disk;
mod kill;
mod live;
mod support;
