//! Progress bars, where a person sees them; elsewhere a line when something is done.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// How often a spinner moves.
const TICK: Duration = Duration::from_millis(120);

/// Steps of a bar that shows a share.
const SHARE_STEPS: u64 = 1000;

/// A bar of bytes.
pub(crate) fn bytes(name: &str, total: u64) -> ProgressBar {
    bar(name, total, "{prefix:<24!} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}")
}

/// A bar of bytes over many files, with how many of them are done at its end.
pub(crate) fn files(name: &str, total: u64) -> ProgressBar {
    bar(name, total, "{prefix:<10!} {wide_bar} {bytes}/{total_bytes} {msg} {eta}")
}

/// A bar of things.
pub(crate) fn count(name: &str, total: u64) -> ProgressBar {
    bar(name, total, "{prefix:<24!} {wide_bar} {pos}/{len}")
}

/// A bar of work whose share is told, with what is being done at its end.
pub(crate) fn share(name: &str) -> ProgressBar {
    let bar = bar(name, SHARE_STEPS, "{prefix:<24!} {wide_bar} {percent}% {msg}");
    bar.enable_steady_tick(TICK);
    bar
}

/// Moves a [`share`] bar.
pub(crate) fn set_share(bar: &ProgressBar, share: f64, doing: &str) {
    // A share of 0 to 1; anything else is cut by the conversion.
    bar.set_position((share * SHARE_STEPS as f64) as u64);
    bar.set_message(doing.to_owned());
}

fn bar(name: &str, total: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(total).with_style(style.progress_chars("━╸ ")).with_prefix(name.to_owned())
}
