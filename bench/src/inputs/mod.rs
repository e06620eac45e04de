//! Generated inputs of every import format, of the same conversations: what parsing is measured on.
//!
//! The same seed gives the same bytes everywhere. Each format is written as its usual source writes it: tracing tools repeat
//! the whole history in each call of a model, sessions have a line for each message.

mod anthropic_messages;
mod claude_code;
mod codex;
pub mod conversation;
mod langfuse;
mod langsmith;
mod openai_chat;
mod otel;
mod stash;

use conversation::{Conversation, Conversations};
use serde_json::Value;

/// The formats that there are inputs of.
pub const FORMATS: [&str; 8] =
    ["openai_chat", "stash", "anthropic_messages", "otel", "langfuse", "langsmith", "claude_code", "codex"];

/// Bytes of a file of a format whose files are one session each.
const SESSION_BYTES: usize = 2_000_000;

/// Files of a format of at least so many bytes together, and rarely more than 200 kB beyond: one, or sessions of some 2 MB. None
/// for a format that is none of [`FORMATS`].
pub fn files(format: &str, seed: i64, bytes: usize) -> Vec<Vec<u8>> {
    let write: fn(&Conversation, &mut File) = match format {
        "openai_chat" => openai_chat::write,
        "stash" => stash::write,
        "anthropic_messages" => anthropic_messages::write,
        "otel" => otel::write,
        "langfuse" => langfuse::write,
        "langsmith" => langsmith::write,
        "claude_code" => claude_code::write,
        "codex" => codex::write,
        _ => return Vec::new(),
    };
    let file_bytes = if matches!(format, "claude_code" | "codex") { SESSION_BYTES } else { bytes };
    let mut conversations = Conversations::new(seed);
    let (mut files, mut sum) = (Vec::new(), 0);
    while sum < bytes {
        let mut file = File { bytes: Vec::with_capacity(file_bytes + 200_000), lines: 0 };
        while file.bytes.len() < file_bytes && sum + file.bytes.len() < bytes {
            write(&conversations.next_one(), &mut file);
        }
        sum += file.bytes.len();
        files.push(file.bytes);
    }
    files
}

/// A file being written.
struct File {
    bytes: Vec<u8>,
    /// Lines so far.
    lines: usize,
}

impl File {
    /// Adds a value as a line.
    fn line(&mut self, value: &Value) {
        // Writing into memory does not fail.
        let _ = serde_json::to_writer(&mut self.bytes, value);
        self.bytes.push(b'\n');
        self.lines += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces;
    use stash_domain::trace::Role;

    #[test]
    fn every_format_reads_its_files_and_finds_the_same_conversations() {
        for (bytes, traces_expected) in [(1, 1), (100_000, 0)] {
            let mut found = Vec::new();
            for format in FORMATS {
                let file = files(format, 5, bytes).concat();
                let traces = traces::read(format, &file).unwrap_or_else(|error| panic!("{format}: {error}"));
                assert!(traces.len() == traces_expected || traces_expected == 0, "{format}");
                assert_eq!(traces::read("auto", &file).unwrap().len(), traces.len(), "{format}");
                let first = traces[0].steps.iter().filter(|step| step.role != Role::System).take(6);
                found.push((format, first.map(|step| step.content.clone()).collect::<Vec<_>>()));
            }
            for (format, contents) in &found {
                assert_eq!(contents, &found[0].1, "{format}");
            }
        }
    }

    #[test]
    fn equal_seeds_give_equal_bytes() {
        for format in FORMATS {
            assert_eq!(files(format, 1, 30_000), files(format, 1, 30_000));
            assert_ne!(files(format, 1, 30_000), files(format, 2, 30_000));
        }
    }
}
