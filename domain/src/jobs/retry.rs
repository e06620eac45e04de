//! When a failed attempt is followed by the next.

use crate::time::Timestamp;

/// Pause after the first failed attempt.
const PAUSE_FIRST_US: i64 = 2_000_000;

/// Longest pause.
const PAUSE_MAX_US: i64 = 300_000_000;

/// The moment from which a job whose `failed` attempts ended at `at` may be tried again: pauses double from 2 s to at most 5 min,
/// each shortened by up to a half, so that jobs that failed together do not come back together. `random` decides by how much.
pub fn not_before(at: Timestamp, failed: u32, random: u64) -> Timestamp {
    let doublings = failed.saturating_sub(1).min(16);
    let pause = PAUSE_FIRST_US.saturating_mul(1 << doublings).min(PAUSE_MAX_US);
    let shortened = i64::try_from(random % 1024).unwrap_or(0) * (pause / 2) / 1024;
    Timestamp(at.0.saturating_add(pause - shortened))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pauses_grow_and_stay_bounded(failed in 1_u32..100, random: u64) {
            let pause = not_before(Timestamp(0), failed, random).0;
            prop_assert!((PAUSE_FIRST_US / 2..=PAUSE_MAX_US).contains(&pause));
            prop_assert!(pause <= not_before(Timestamp(0), failed.saturating_add(2), random).0);
        }
    }
}
