//! Generated traces that look like those of an agent: a policy, questions, tool calls with JSON arguments, JSON results,
//! answers. The same seed gives the same bytes everywhere, so that figures of two commits are of the same input.
//!
//! Lines are in the format `openai_chat`, since that is what most files hold. Texts have punctuation, escapes and some
//! characters outside ASCII, and compress about as well as real ones.

use stash_domain::seeded::Seeded;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Name of the format of the lines.
pub const FORMAT: &str = "openai_chat";

/// Words of the texts: what agents and customers say, and some letters outside ASCII.
const WORDS: [&str; 72] = [
    "the",
    "order",
    "customer",
    "refund",
    "flight",
    "search",
    "error",
    "retry",
    "please",
    "confirm",
    "policy",
    "and",
    "for",
    "your",
    "reservation",
    "payment",
    "method",
    "cancelled",
    "before",
    "after",
    "within",
    "hours",
    "because",
    "cannot",
    "find",
    "record",
    "account",
    "verified",
    "tomorrow",
    "morning",
    "seat",
    "cabin",
    "upgrade",
    "baggage",
    "insurance",
    "certificate",
    "balance",
    "function",
    "returns",
    "argument",
    "file",
    "test",
    "failed",
    "passed",
    "line",
    "module",
    "import",
    "branch",
    "commit",
    "review",
    "change",
    "request",
    "server",
    "timeout",
    "latency",
    "cache",
    "index",
    "query",
    "result",
    "empty",
    "value",
    "number",
    "string",
    "list",
    "café",
    "naïve",
    "Zürich",
    "to",
    "of",
    "is",
    "not",
    "with",
];

/// Names of the tools that the agent calls.
const TOOLS: [&str; 6] =
    ["search_flights", "get_order_details", "cancel_reservation", "run_tests", "read_file", "update_account"];

/// Bytes of a mixed file's smallest and largest traces; half of them are below the geometric middle, 11 kB.
const MIXED_BYTES: (usize, usize) = (2_000, 64_000);

/// A larger trace has longer texts, so that its steps stay below the number that one trace may have.
const LONG_BYTES: u64 = 100_000_000;

/// How much longer.
const LONG_FACTOR: usize = 4;

/// What a generated file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One trace of about so many bytes.
    One {
        /// Its bytes.
        bytes: u64,
    },
    /// Traces of about equal size.
    Equal {
        /// How many.
        count: u64,
        /// Bytes of each.
        bytes_each: u64,
    },
    /// Traces of all sizes, small ones oftener, about so many bytes in all.
    Mixed {
        /// Bytes of the file.
        bytes: u64,
    },
}

/// Writes traces one after another.
#[derive(Clone, Debug)]
pub struct Corpus {
    random: Seeded,
    seed: i64,
    written: u64,
}

impl Corpus {
    /// Begins a corpus. Traces of two seeds have different external ids.
    pub fn new(seed: i64) -> Self {
        Self { random: Seeded::new(seed, "bench corpus"), seed, written: 0 }
    }

    /// Writes a file's worth of traces and returns its bytes and how many traces it holds.
    ///
    /// # Errors
    /// Those of the output.
    pub fn write(&mut self, shape: Shape, out: &mut impl Write) -> io::Result<(u64, u64)> {
        let (mut bytes, mut traces) = (0, 0);
        loop {
            let size = match shape {
                Shape::One { bytes } if traces == 0 => bytes,
                Shape::Equal { count, bytes_each } if traces < count => bytes_each,
                Shape::Mixed { bytes: all } if bytes < all => self.mixed_size(),
                _ => return Ok((bytes, traces)),
            };
            bytes += self.trace(size, out)?;
            traces += 1;
        }
    }

    /// Makes a file of traces and returns its bytes and how many traces it holds.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn file(&mut self, shape: Shape, path: &Path) -> io::Result<(u64, u64)> {
        let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let written = self.write(shape, &mut out)?;
        out.flush()?;
        Ok(written)
    }

    /// Lines in memory.
    pub fn lines(&mut self, shape: Shape) -> Vec<u8> {
        let mut out = Vec::new();
        // Writing into memory does not fail.
        let _ = self.write(shape, &mut out);
        out
    }

    /// Writes one line of at least `bytes` bytes, and rarely more than 4 kB beyond.
    fn trace(&mut self, bytes: u64, out: &mut impl Write) -> io::Result<u64> {
        let mut piece = String::with_capacity(8192);
        let reward = self.random.below(2);
        let _ = write!(
            piece,
            r#"{{"id":"bench-{}-{}","model":"bench-1","metadata":{{"reward":{reward}.0,"task":{}}},"messages":[{{"role":"system","content":""#,
            self.seed,
            self.written,
            self.random.below(100),
        );
        self.text(80, &mut piece);
        piece.push_str("\"}");
        let (mut sum, mut call) = (0, 0_u64);
        let factor = if bytes > LONG_BYTES { LONG_FACTOR } else { 1 };
        loop {
            self.turn(call, factor, &mut piece);
            call += 1;
            let last = sum + piece.len() as u64 + 3 >= bytes;
            if last {
                piece.push_str("]}\n");
            }
            out.write_all(piece.as_bytes())?;
            sum += piece.len() as u64;
            piece.clear();
            if last {
                self.written += 1;
                return Ok(sum);
            }
        }
    }

    /// A question, a call, its result and an answer; question and answer are `factor` times as long as usual.
    fn turn(&mut self, call: u64, factor: usize, out: &mut String) {
        out.push_str(r#",{"role":"user","content":""#);
        let words = 8 + self.random.below(40);
        self.text(words * factor, out);
        let tool = TOOLS[self.random.below(TOOLS.len())];
        let _ = write!(
            out,
            r#""}},{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{call}","type":"function","function":{{"name":"{tool}","arguments":"{{\"id\": \"{:06X}\", \"limit\": {}, \"note\": \""#,
            self.random.below(1 << 24),
            self.random.below(50),
        );
        self.text(6, out);
        let _ =
            write!(out, r#"\"}}"}}}}]}},{{"role":"tool","tool_call_id":"call_{call}","name":"{tool}","content":"["#);
        let rows = 1 + self.random.below(8);
        for row in 0..rows {
            let comma = if row == 0 { "" } else { ", " };
            let _ = write!(
                out,
                r#"{comma}{{\"number\": \"HAT{:03}\", \"price\": {}.{:02}, \"seats\": {}, \"state\": \""#,
                self.random.below(1000),
                self.random.below(900),
                self.random.below(100),
                self.random.below(30),
            );
            self.text(4, out);
            out.push_str(r#"\"}"#);
        }
        out.push_str(r#"]"},{"role":"assistant","content":""#);
        let words = 10 + self.random.below(80);
        self.text(words * factor, out);
        out.push_str("\"}");
    }

    /// So many words, as they stand inside a JSON string.
    fn text(&mut self, words: usize, out: &mut String) {
        for word in 0..words {
            if word > 0 {
                out.push_str(match self.random.below(48) {
                    0..4 => ". ",
                    4 => r"\n",
                    5 => ", ",
                    6 => " – ",
                    _ => " ",
                });
            }
            let drawn = self.random.below(WORDS.len() + 4);
            match WORDS.get(drawn) {
                Some(word) => out.push_str(word),
                None => drop(write!(out, "{}", self.random.below(10_000))),
            }
        }
    }

    /// Sizes whose logarithms are spread evenly between the bounds.
    fn mixed_size(&mut self) -> u64 {
        let (low, high) = (MIXED_BYTES.0 as f64, MIXED_BYTES.1 as f64);
        let share = self.random.below(1 << 20) as f64 / f64::from(1 << 20);
        (low * (high / low).powf(share)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces;

    #[test]
    fn equal_seeds_give_equal_bytes_and_others_other_traces() {
        let shape = Shape::Mixed { bytes: 100_000 };
        assert_eq!(Corpus::new(1).lines(shape), Corpus::new(1).lines(shape));
        assert_ne!(Corpus::new(1).lines(shape), Corpus::new(2).lines(shape));
    }

    #[test]
    fn every_line_is_a_trace_of_about_the_size_that_was_asked_for() {
        let lines = Corpus::new(3).lines(Shape::Equal { count: 20, bytes_each: 10_000 });
        assert!((200_000..300_000).contains(&lines.len()), "{}", lines.len());
        let traces = traces::read(FORMAT, &lines).unwrap();
        assert_eq!(traces.len(), 20);
        for trace in &traces {
            assert!(trace.steps.iter().filter(|step| step.action_type().is_some()).count() >= 4);
            assert!(trace.head.external_id.as_deref().is_some_and(|id| id.starts_with("bench-3-")));
        }
        let one = Corpus::new(3).lines(Shape::One { bytes: 100_000 });
        assert_eq!(traces::read(FORMAT, &one).unwrap().len(), 1);
    }

    #[test]
    fn texts_hold_what_makes_parsers_work() {
        let lines = String::from_utf8(Corpus::new(4).lines(Shape::Mixed { bytes: 200_000 })).unwrap();
        assert!(lines.contains(r"\n") && lines.contains("é") && lines.contains(r#"\""#));
    }
}
