//! What a title's failure means, and how long is waited.

use super::write::Outcome;
use super::{FAULT, FAULT_MAX, pause_after};

#[test]
fn pauses_grow_to_a_bound() {
    assert_eq!(pause_after(1), FAULT);
    assert_eq!(pause_after(2), FAULT * 2);
    assert_eq!(pause_after(u32::MAX), FAULT_MAX);
    assert_ne!(Outcome::Later, Outcome::Told);
}
