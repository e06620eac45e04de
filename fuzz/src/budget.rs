//! The bounds on memory and time, and the allocator that counts.

use stash_domain::limits::{JSON_BYTES_PER_PART, JSON_PARTS_FREE};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes held for each byte of input.
pub const MEMORY_TIMES: usize = 20;

/// Bytes held whatever the input: mostly the issues that a report lists one by one, at most 1000 warnings and 1000 skipped
/// records at a few hundred bytes each.
pub const MEMORY_BYTES: usize = 1 << 20;

/// Bytes for each part of JSON (a value, a key) beyond one for each 4 bytes: what is so dense is taken up to a bound
/// ([`JSON_PARTS_FREE`]). A number of one digit takes 33 bytes, and twice that where its list has just grown.
pub const PART_BYTES: usize = 160;

/// Seconds for each megabyte of input.
pub const SECONDS_PER_MB: f64 = 1.0;

/// Seconds whatever the input.
pub const SECONDS: f64 = 0.1;

/// Bytes allocated now, and the most of them since the last measurement began.
static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn grow(bytes: usize) {
    PEAK.fetch_max(HELD.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

// SAFETY: every call is the system allocator's with the same arguments; counting touches no memory that is handed out.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new may both be there for a moment; the default allocator mostly grows in place, and so it is counted.
        HELD.fetch_sub(layout.size(), Relaxed);
        grow(size);
        unsafe { System.realloc(memory, layout, size) }
    }
}

/// Parts of JSON beyond those that are in proportion to the bytes, at most as many as are taken. Those within text count too.
fn parts_beyond(data: &[u8]) -> usize {
    let parts = |byte: &u8| match byte {
        b'{' => 5,
        b'[' => 3,
        b',' | b':' => 1,
        _ => 0,
    };
    beyond(data.iter().map(parts).sum(), data.len())
}

/// Parts beyond those that are in proportion to the bytes, at most as many as are taken.
pub(crate) fn beyond(parts: usize, bytes: usize) -> usize {
    parts.saturating_sub(bytes / JSON_BYTES_PER_PART).min(JSON_PARTS_FREE)
}

/// Does something with an input of JSON within the bounds.
///
/// # Panics
/// When a bound is crossed; the message says which and by how much.
pub(crate) fn within<T>(what: &str, input: &[u8], act: impl FnOnce() -> T) -> T {
    within_parts(what, input.len(), parts_beyond(input), act)
}

/// The same for an input of so many bytes, and parts beyond them.
///
/// # Panics
/// When a bound is crossed; the message says which and by how much.
pub(crate) fn within_parts<T>(what: &str, bytes: usize, beyond: usize, act: impl FnOnce() -> T) -> T {
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    let begin = thread_seconds();
    let result = act();
    let seconds = thread_seconds() - begin;
    let peak = PEAK.load(Relaxed).saturating_sub(before);
    let (memory_max, seconds_max) =
        (MEMORY_TIMES * bytes + MEMORY_BYTES + PART_BYTES * beyond, SECONDS_PER_MB * bytes as f64 / 1e6 + SECONDS);
    assert!(peak <= memory_max, "{what} {bytes} bytes held {peak} bytes, more than {memory_max}");
    assert!(seconds <= seconds_max, "{what} {bytes} bytes took {seconds:.3} s, more than {seconds_max:.3}");
    result
}

/// Processor time that this thread has had.
fn thread_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is this function's own.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert!(status == 0, "the thread's clock cannot be read");
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
