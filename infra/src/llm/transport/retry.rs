//! What is sent again, and when.

use rand::RngExt as _;
use stash_domain::time::Timestamp;
use std::time::Duration;

/// How patiently a request is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Times it is sent again.
    pub retries_max: u32,
    /// The first pause; each further one is twice as long.
    pub pause: Duration,
    /// The longest pause that is ours.
    pub pause_max: Duration,
    /// The longest wait that a server may ask for; beyond it the call fails at once.
    pub wait_max: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            retries_max: 4,
            pause: Duration::from_secs(1),
            pause_max: Duration::from_secs(30),
            wait_max: Duration::from_secs(120),
        }
    }
}

impl Pace {
    /// The pause after so many attempts: doubled each time, and drawn from its upper half, so that clients that failed together
    /// do not come back together.
    pub(super) fn pause(&self, tried: u32) -> Duration {
        let doublings = tried.saturating_sub(1).min(16);
        let whole = self.pause.saturating_mul(1 << doublings).min(self.pause_max);
        whole.mul_f64(rand::rng().random_range(0.5..=1.0))
    }
}

/// Whether a request refused with this status may be taken later.
pub(super) fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599) && status != 501
}

/// What `Retry-After` asks for: seconds, or a moment by its date. None for other text.
pub(super) fn wait_of(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let zoned = jiff::fmt::rfc2822::parse(text).ok()?;
    let microseconds = zoned.timestamp().as_microsecond().saturating_sub(now.0);
    // A moment that has passed, by our clock, asks for no wait.
    Some(Duration::from_micros(u64::try_from(microseconds).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_asked_for_in_seconds_or_by_date() {
        let now = Timestamp(784_111_777_000_000);
        assert_eq!(wait_of("3", now), Some(Duration::from_secs(3)));
        assert_eq!(wait_of(" 0.5 ", now), Some(Duration::from_millis(500)));
        assert_eq!(wait_of("Sun, 06 Nov 1994 08:49:47 GMT", now), Some(Duration::from_secs(10)));
        assert_eq!(wait_of("Sun, 06 Nov 1994 08:49:27 GMT", now), Some(Duration::ZERO));
        for none in ["", "-1", "soon", "nan", "inf", "1e300"] {
            assert_eq!(wait_of(none, now), None, "{none}");
        }
    }

    #[test]
    fn pauses_double_up_to_a_bound() {
        let pace = Pace::default();
        for (tried, seconds) in [(1, 1.0), (2, 2.0), (4, 8.0), (9, 30.0), (u32::MAX, 30.0)] {
            let pause = pace.pause(tried).as_secs_f64();
            assert!(pause >= seconds / 2.0 && pause <= seconds, "{tried}: {pause}");
        }
    }

    #[test]
    fn what_may_pass_is_sent_again() {
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            assert!(may_pass(status), "{status}");
        }
        for status in [200, 301, 400, 401, 403, 404, 413, 422, 501] {
            assert!(!may_pass(status), "{status}");
        }
    }
}
