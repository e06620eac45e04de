//! Panics, as log lines.

use super::metrics::PANICS;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;

/// Logs the places of panics from now on, instead of printing their texts.
pub fn log_panics() {
    std::panic::set_hook(Box::new(log));
}

fn log(info: &PanicHookInfo<'_>) {
    metrics::counter!(PANICS.name).increment(1);
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    // A text that stands in the source as it is; one that was formatted may quote content.
    let said = info.payload().downcast_ref::<&'static str>().copied().unwrap_or("(text left out)");
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or("unnamed");
    // Names of functions only, and only when asked for by RUST_BACKTRACE.
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        tracing::error!(place, thread, said, %backtrace, "panic");
    } else {
        tracing::error!(place, thread, said, "panic");
    }
}
