//! What all fault tests share: a deployment, clients with a ledger, the final comparison.

pub(crate) mod check;
pub(crate) mod client;
pub(crate) mod ledger;
pub(crate) mod load;
pub(crate) mod log_records;
pub(crate) mod process;
pub(crate) mod programs;
mod services;
pub(crate) mod site;
pub(crate) mod small_disk;
pub(crate) mod trainings;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, MutexGuard};

/// Variables of these tests, which are no business of the program's.
pub(crate) const VARIABLES: [&str; 4] =
    ["STASH_FAULT_SEED", "STASH_FAULT_KILLS", "STASH_FAULT_AWAY_S", "STASH_FAULT_NO_MOUNT"];

/// Pause between two looks at a condition.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// One fault test at a time: each has a deployment of its own, and the faults' schedule assumes the cores.
pub(crate) async fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::const_new(());
    TURN.lock().await
}

/// The seed of this run, printed so that the run can be repeated.
pub(crate) fn seed(test: &str) -> u64 {
    let seed = number("STASH_FAULT_SEED").unwrap_or_else(|| rand::rng().random_range(0..1 << 32));
    println!("{test}: STASH_FAULT_SEED={seed}");
    seed
}

/// Random numbers for one part of a test: the same for the same seed, whatever the other parts do.
pub(crate) fn random(seed: u64, part: u64) -> StdRng {
    StdRng::seed_from_u64(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ part)
}

/// A number from the environment.
pub(crate) fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {text:?}")))
}

/// Waits until `look` finds something; fails after `limit`, saying what was waited for.
pub(crate) async fn until<T>(what: &str, limit: Duration, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(begin.elapsed() < limit, "waited {limit:?} in vain for: {what}");
        tokio::time::sleep(LOOK).await;
    }
}
