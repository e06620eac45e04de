//! How fast content is sealed and opened on this machine, per second of processor time of one core.
//!
//! ```text
//! cargo run --release -p stash-infra --example seal_throughput [FILE]
//! ```
//!
//! Without a file, on generated trace-like JSON and on bytes that do not compress.

use nix::sys::resource::{UsageWho, getrusage};
use stash_domain::ids::{OwnerId, SubjectId};
use stash_domain::limits::FRAME_BYTES_TARGET;
use stash_infra::seal::{Purpose, open_bytes, seal_into};
use stash_infra::subject_keys::SubjectKey;
use std::time::Duration;
use uuid::Uuid;
use zeroize::Zeroizing;

/// How long each figure is measured.
const MEASURED: Duration = Duration::from_secs(2);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if let Some(path) = std::env::args().nth(1) {
        let content = std::fs::read(&path)?;
        for bytes in [1024, 16 * 1024, FRAME_BYTES_TARGET] {
            measure(&path, &content, bytes)?;
        }
        return Ok(());
    }
    let (traces, noise) = (traces(8 << 20), noise(8 << 20));
    for bytes in [1024, 16 * 1024, FRAME_BYTES_TARGET] {
        measure("trace-like JSON", &traces, bytes)?;
        measure("noise", &noise, bytes)?;
    }
    Ok(())
}

/// Prints megabytes of plain content per second, and how large it is sealed.
fn measure(name: &str, content: &[u8], frame_bytes: usize) -> Result<(), Box<dyn std::error::Error>> {
    let key =
        SubjectKey::from_root(OwnerId(Uuid::from_u128(1)), SubjectId(Uuid::from_u128(2)), &Zeroizing::new([3; 32]));
    let frames: Vec<&[u8]> = content.chunks(frame_bytes).collect();
    let mut sealed = vec![Vec::new(); frames.len()];

    let (mut bytes, start) = (0, used()?);
    while used()? < start + MEASURED {
        for (frame, out) in frames.iter().zip(&mut sealed) {
            out.clear();
            seal_into(&key, Purpose::TRACE_FRAMES, frame, out)?;
            bytes += frame.len();
        }
    }
    let sealing = rate(bytes, used()? - start);

    let (mut bytes, start) = (0, used()?);
    while used()? < start + MEASURED {
        for sealed in &sealed {
            let opened = open_bytes(Some(&key), Purpose::TRACE_FRAMES, sealed, frame_bytes)?;
            bytes += opened.clear().map_or(0, |plain| plain.len());
        }
    }
    let opening = rate(bytes, used()? - start);
    let share = sealed.iter().map(Vec::len).sum::<usize>() * 100 / content.len().max(1);
    println!(
        "{name}, frames of {frame_bytes} bytes: seal {sealing:.0} MB/s, open {opening:.0} MB/s, {share} % of the size"
    );
    Ok(())
}

fn rate(bytes: usize, used: Duration) -> f64 {
    bytes as f64 / 1e6 / used.as_secs_f64()
}

/// Processor time of this process, which other work on the machine does not change.
fn used() -> nix::Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let duration = |time: nix::sys::time::TimeVal| {
        let micros = time.tv_sec() * 1_000_000 + time.tv_usec();
        Duration::from_micros(u64::try_from(micros).unwrap_or_default())
    };
    Ok(duration(usage.user_time()) + duration(usage.system_time()))
}

/// JSON lines of steps whose words vary.
fn traces(length: usize) -> Vec<u8> {
    let words = [
        "the", "order", "customer", "refund", "flight", "search", "error", "retry", "please", "confirm", "42", "policy",
    ];
    let mut out = Vec::with_capacity(length + 1024);
    let mut numbers = noise(length).into_iter().cycle();
    while out.len() < length {
        out.extend_from_slice(br#"{"role":"assistant","content":""#);
        for _ in 0..60 {
            let number = usize::from(numbers.next().unwrap_or_default());
            out.extend_from_slice(words[number % words.len()].as_bytes());
            out.extend_from_slice(number.to_string().as_bytes());
            out.push(b' ');
        }
        out.extend_from_slice(b"\"}\n");
    }
    out
}

/// Bytes that do not compress (splitmix64).
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut word = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)).to_le_bytes()
    };
    (0..length.div_ceil(8)).flat_map(|_| word()).take(length).collect()
}
