//! `pairs.jsonl`: one pair a line, `{"chosen", "rejected", "chosen_cuts", "rejected_cuts", "split", …}`, the texts
//! rendered, the cuts as [`Segmented`] wants them. Other fields are evidence and not read here.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use stash_model::tokenize::{Segmented, TextTokenizer};

use crate::error::TrainError;

/// Name of the file in a job directory.
pub const FILE: &str = "pairs.jsonl";
/// Most training pairs of a job. The platform's own default is 4,000; at 1,024 tokens a text these are 800 MB.
pub const PAIRS_MAX: usize = 100_000;
/// Longest line accepted.
pub const LINE_BYTES_MAX: u64 = 256 << 20;

/// The tokens of one pair, each side cut to the limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The better text.
    pub chosen: Vec<u32>,
    /// The worse text.
    pub rejected: Vec<u32>,
}

/// The training pairs of a job.
#[derive(Debug, Default)]
pub struct Pairs {
    /// In order of the file.
    pub train: Vec<Pair>,
    /// Texts of the training pairs that were cut.
    pub truncated_texts: usize,
}

#[derive(Deserialize)]
struct Line {
    chosen: String,
    rejected: String,
    chosen_cuts: Vec<u32>,
    rejected_cuts: Vec<u32>,
    split: Split,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Split {
    Train,
    Eval,
}

/// Reads and tokenises the training pairs of a job directory.
///
/// # Errors
/// When the file cannot be read or a line is not a pair (named by its number), or there are fewer than two pairs to
/// train on.
pub fn read(job_dir: &Path, tokenizer: &TextTokenizer, max_tokens: usize) -> Result<Pairs, TrainError> {
    let path = job_dir.join(FILE);
    let mut reader = BufReader::new(File::open(&path).map_err(TrainError::io("read", &path))?);
    let mut pairs = Pairs::default();
    let mut line = Vec::new();
    for number in 1_usize.. {
        line.clear();
        let n =
            (&mut reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).map_err(TrainError::io("read", &path))?;
        if n == 0 {
            break;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let refuse = |detail: String| TrainError::Job(format!("{FILE} line {number}: {detail}"));
        let parsed: Line = serde_json::from_slice(&line).map_err(|e| refuse(e.to_string()))?;
        if parsed.split == Split::Eval {
            continue;
        }
        if pairs.train.len() == PAIRS_MAX {
            return Err(refuse(format!("more than {PAIRS_MAX} pairs")));
        }
        let mut side = |text: &str, cuts: &[u32]| {
            let encoded = tokenizer.encode(&Segmented { text, cuts }).map_err(|e| refuse(e.to_string()))?;
            let window = encoded.window(max_tokens);
            pairs.truncated_texts += usize::from(window.truncation.is_some());
            Ok::<_, TrainError>(window.ids.to_vec())
        };
        let chosen = side(&parsed.chosen, &parsed.chosen_cuts)?;
        let rejected = side(&parsed.rejected, &parsed.rejected_cuts)?;
        pairs.train.push(Pair { chosen, rejected });
    }
    if pairs.train.len() < 2 {
        return Err(TrainError::Job(format!("{FILE}: {} pairs to train on, at least 2 are needed", pairs.train.len())));
    }
    Ok(pairs)
}
