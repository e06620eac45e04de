//! How a judge did, for eyes and for scripts.

use crate::output::{self, Table};
use serde_json::{Value, json};
use stash_infra::llm::budget::Spent;
use stash_workers::extraction::{Outcome, Tried};

/// How a judge did on a suite.
pub(super) struct Report<'a> {
    pub(super) suite: &'static str,
    pub(super) model: &'a str,
    /// Cases of the suite.
    pub(super) total: usize,
    /// Share of them that is enough.
    pub(super) at_least: f64,
    pub(super) tried: &'a [Tried],
    pub(super) spent: Spent,
}

impl Report<'_> {
    fn right(&self) -> usize {
        self.tried.iter().filter(|tried| tried.is_right()).count()
    }

    fn share(&self) -> f64 {
        self.right() as f64 / self.total.max(1) as f64
    }

    /// Whether the judge was right often enough.
    pub(super) fn is_enough(&self) -> bool {
        self.share() >= self.at_least
    }

    /// Prints it as a table.
    pub(super) fn table(&self) -> anyhow::Result<()> {
        let mut table = Table::new(&["case", "judge", "found", "what is wrong"]);
        for tried in self.tried {
            let verdict = if tried.is_right() { "right" } else { "wrong" };
            table.row(&[&tried.case.name, &verdict, &found(&tried.outcome), &wrong(&tried.outcome)]);
        }
        table.print()?;
        let (right, share, total) = (self.right(), self.share() * 100.0, self.total);
        output::line(format_args!("\n{} is right about {right} of {total} cases ({share:.0} %)", self.model))?;
        let cost = if self.spent.cost_is_whole {
            format!(", ${:.4}", self.spent.cost_microusd as f64 / 1e6)
        } else {
            String::new()
        };
        output::note(format_args!("{} calls, {} tokens{cost}", self.spent.calls, self.spent.usage.total()));
        if !self.is_enough() {
            let needed = self.at_least * 100.0;
            output::note(format_args!(
                "error: that is below {needed:.0} % (--at-least): another model may judge better"
            ));
        }
        Ok(())
    }

    /// Prints it as JSON.
    pub(super) fn json(&self) -> anyhow::Result<()> {
        let usage = self.spent.usage;
        output::json(&json!({
            "suite": self.suite,
            "model": self.model,
            "cases": self.tried.iter().map(case).collect::<Vec<Value>>(),
            "right": self.right(),
            "total": self.total,
            "share": self.share(),
            "at_least": self.at_least,
            "ok": self.is_enough(),
            "calls": self.spent.calls,
            "input_tokens": usage.total().saturating_sub(usage.output),
            "output_tokens": usage.output,
            "cost_usd": self.spent.cost_is_whole.then(|| self.spent.cost_microusd as f64 / 1e6),
        }))
    }
}

/// What was found, in two words.
fn found(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Found { finding, .. } => {
            let pair = if finding.exclusion.is_none() { ", a pair" } else { "" };
            format!("{} by {}{pair}", finding.label.name(), finding.source.name())
        }
        Outcome::Malformed { .. } => "no usable answer".to_owned(),
    }
}

/// What is wrong with it; empty if nothing is.
fn wrong(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Found { fault, .. } => fault.map(|fault| fault.to_string()).unwrap_or_default(),
        Outcome::Malformed { reason } => reason.clone(),
    }
}

fn case(tried: &Tried) -> Value {
    let expected = &tried.case.expected;
    let labels: Vec<&str> = expected.labels.iter().map(|label| label.name()).collect();
    let found = match &tried.outcome {
        Outcome::Found { finding, .. } => json!({
            "source": finding.source.name(),
            "label": finding.label.name(),
            "confidence": finding.confidence.name(),
            "evidence_quote": finding.evidence_quote,
            "reason": finding.reason,
            "pair": finding.exclusion.is_none(),
            "exclusion": finding.exclusion.map(|exclusion| exclusion.name()),
        }),
        Outcome::Malformed { .. } => Value::Null,
    };
    json!({
        "case": tried.case.name,
        "right": tried.is_right(),
        "wrong": Some(wrong(&tried.outcome)).filter(|text| !text.is_empty()),
        "expected": {
            "source": expected.source.name(),
            "labels": labels,
            "evidence": expected.evidence,
            "pair": expected.pair,
        },
        "found": found,
        "calls": tried.questions,
    })
}
