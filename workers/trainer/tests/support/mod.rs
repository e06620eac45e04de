//! Job directories made by the tests, and what comes out of them.

#![allow(
    clippy::unwrap_used,
    dead_code,
    unreachable_pub,
    reason = "a test fails by panicking; each test binary uses a part of this"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};
use stash_model::rng::Rng;
use stash_model::tiny_base::{self, Kind};
use tempfile::TempDir;

/// A rendered text with its cuts.
#[derive(Debug, Clone)]
pub struct Text {
    pub text: String,
    pub cuts: Vec<u32>,
}

/// Renders (role, body) segments.
pub fn render(segments: &[(&str, &str)]) -> Text {
    let (mut text, mut cuts) = (String::new(), Vec::new());
    for (index, (role, body)) in segments.iter().enumerate() {
        if index > 0 {
            text.push('\n');
            cuts.push(text.len() as u32);
        }
        text.push_str(&format!("<|im_start|>{role}\n{body}<|im_end|>"));
        cuts.push(text.len() as u32);
    }
    Text { text, cuts }
}

/// A pair of rendered texts, the better one first.
#[derive(Debug, Clone)]
pub struct TextPair {
    pub chosen: Text,
    pub rejected: Text,
}

/// Pairs after a rule that no single word gives away: a refund is right for a gold member and wrong for a basic one, a
/// refusal the other way round. Names, orders and phrases differ from pair to pair.
pub fn refund_pairs(n: usize, seed: u64) -> Vec<TextPair> {
    let mut rng = Rng::for_part(seed, "refund pairs");
    (0..n).map(|_| refund_pair(&mut rng)).collect()
}

fn refund_pair(rng: &mut Rng) -> TextPair {
    let gold = rng.below(2) == 0;
    let level = if gold { "gold" } else { "basic" };
    let order = 1_000 + rng.below(9_000);
    let one = |rng: &mut Rng, items: &[&str]| (*rng.pick(items).unwrap()).to_owned();
    let opening = one(rng, &["Hello,", "Good morning,", "Hi there,", "I need help,", "Please look at this,"]);
    let thing = one(rng, &["flight", "hotel", "ticket", "subscription", "suitcase", "booking"]);
    let reason = one(rng, &["was late", "is broken", "was cancelled", "never arrived", "is not what I wanted"]);
    let request = format!("{opening} order {order}: my {thing} {reason}. I would like my money back.");
    let record = format!("{{\"order_id\": {order}, \"membership\": \"{level}\", \"item\": \"{thing}\"}}");
    let arguments = format!("{{\"amount\": {}, \"order_id\": {order}}}", 10 + rng.below(490));
    let refund = format!("<tool_call>\n{{\"name\": \"send_refund\", \"arguments\": {arguments}}}\n</tool_call>");
    let refusal = one(
        rng,
        &[
            "I'm sorry, but I cannot refund this.",
            "Unfortunately a refund is not possible.",
            "This order cannot be refunded.",
        ],
    );
    let with = |action: &str| render(&[("user", &request), ("tool", &record), ("assistant", action)]);
    let (refund, refusal) = (with(&refund), with(&refusal));
    if gold { TextPair { chosen: refund, rejected: refusal } } else { TextPair { chosen: refusal, rejected: refund } }
}

/// The small base of a family, made once for all tests of a binary.
fn made_base(kind: Kind) -> &'static Path {
    static MADE: [OnceLock<TempDir>; 3] = [const { OnceLock::new() }; 3];
    let made = &MADE[kind as usize];
    let make = || {
        let dir = tempfile::tempdir().unwrap();
        tiny_base::make_kind(dir.path(), kind, 0).unwrap();
        dir
    };
    made.get_or_init(make).path()
}

/// A job directory with the small base in `base/`.
pub struct JobDir {
    dir: TempDir,
}

impl JobDir {
    pub fn new(kind: Kind) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("base");
        std::fs::create_dir(&base).unwrap();
        for entry in std::fs::read_dir(made_base(kind)).unwrap().map(Result::unwrap) {
            std::fs::copy(entry.path(), base.join(entry.file_name())).unwrap();
        }
        Self { dir }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes `job.json`, the required fields added.
    pub fn job(&self, mut fields: Value) -> &Self {
        fields["kind"] = json!("train");
        fields["base_model_dir"] = json!("base");
        std::fs::write(self.file("job.json"), fields.to_string()).unwrap();
        self
    }

    /// Writes `pairs.jsonl`, the first `train` pairs to train on, the others held out.
    pub fn pairs(&self, pairs: &[TextPair], train: usize) -> &Self {
        let line = |(index, pair): (usize, &TextPair)| {
            let split = if index < train { "train" } else { "eval" };
            let (c, r) = (&pair.chosen, &pair.rejected);
            json!({"chosen": c.text, "rejected": r.text, "chosen_cuts": c.cuts, "rejected_cuts": r.cuts, "split": split,
                   "trace_id": format!("t{index}"), "granularity": "action", "action_type": "response"})
            .to_string()
        };
        let lines: Vec<String> = pairs.iter().enumerate().map(line).collect();
        std::fs::write(self.file("pairs.jsonl"), lines.join("\n")).unwrap();
        self
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stash-trainer"));
        command.arg(self.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the trainer to its end.
    pub fn run(&self) -> Output {
        self.command().output().unwrap()
    }

    /// Runs the trainer, which must succeed, and returns `result.json`.
    pub fn train(&self) -> Value {
        let output = self.run();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&std::fs::read(self.file("result.json")).unwrap()).unwrap()
    }
}
