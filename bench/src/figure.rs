//! The figures: their names, units and targets, and the file they are kept in.
//!
//! `results.json` is `{commit, machine, figures: [{name, value, unit, better}]}`; a figure that was measured beside another
//! program's carries `peer`, `peer_value` and `ratio` too (how many times as good, whichever way is better), and one that was not measured
//! at the file's commit carries its own `commit`. A run of some figures keeps the others of the same machine and drops those of any other.

use crate::machine::Machine;
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Better {
    /// More.
    Higher,
    /// Less.
    Lower,
}

/// What is measured.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Its name.
    pub(crate) name: &'static str,
    /// Unit of its value.
    pub(crate) unit: &'static str,
    /// Which way is better.
    pub(crate) better: Better,
    /// The value to reach on two cores, Postgres or broker included; none where there is no target yet.
    pub(crate) target: Option<f64>,
}

impl Kind {
    /// Whether a value is as good as the target.
    pub(crate) fn is_reached(&self, value: f64) -> Option<bool> {
        self.target.map(|target| match self.better {
            Better::Higher => value >= target,
            Better::Lower => value <= target,
        })
    }

    /// A measured value.
    pub(crate) fn is(&'static self, value: f64, note: impl Into<String>) -> Measured {
        Measured { kind: self, value, note: note.into(), peer: None }
    }
}

/// Another program, measured in the same run.
#[derive(Debug)]
pub(crate) struct Peer {
    /// Its name, with its version where one says it.
    pub(crate) name: String,
    /// Its value of the same figure.
    pub(crate) value: f64,
}

/// A value, and what to know of it.
#[derive(Debug)]
pub(crate) struct Measured {
    /// Of what.
    pub(crate) kind: &'static Kind,
    /// The value.
    pub(crate) value: f64,
    /// How it came about; shown, not kept.
    pub(crate) note: String,
    /// What it was measured beside.
    pub(crate) peer: Option<Peer>,
}

impl Measured {
    /// Beside another program's value.
    pub(crate) fn beside(self, name: impl Into<String>, value: f64) -> Self {
        Self { peer: Some(Peer { name: name.into(), value }), ..self }
    }

    /// How many times as good as the other program.
    pub(crate) fn ratio(&self) -> Option<f64> {
        let peer = self.peer.as_ref()?;
        let (over, under) = match self.kind.better {
            Better::Higher => (self.value, peer.value),
            Better::Lower => (peer.value, self.value),
        };
        (under != 0.0).then_some(over / under)
    }
}

/// A figure in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Figure {
    name: String,
    value: f64,
    unit: String,
    better: Better,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    peer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    peer_value: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    /// Where it was measured, if not at the file's commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Results {
    commit: String,
    machine: String,
    figures: Vec<Figure>,
}

/// Puts the measured figures into the file. What the file has of another commit stays, with that commit beside it: all jobs
/// together take an hour, and few changes concern more than one. What it has of another machine goes.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn keep(path: &Path, machine: &Machine, measured: &[Measured]) -> anyhow::Result<()> {
    let before = std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice::<Results>(&bytes).ok());
    let before = before.filter(|before| before.machine == machine.description);
    let mut figures = before.map_or_else(Vec::new, |before| {
        let of_then = |figure: Figure| {
            let commit = figure.commit.unwrap_or_else(|| before.commit.clone());
            Figure { commit: Some(commit).filter(|commit| *commit != machine.commit), ..figure }
        };
        before.figures.into_iter().map(of_then).collect()
    });
    // Three digits after the point are more than any of these repeats to; what is far smaller keeps three of its own.
    let short = |value: f64| match value.abs() {
        size if size >= 0.1 || size == 0.0 => (value * 1000.0).round() / 1000.0,
        _ => format!("{value:.2e}").parse().unwrap_or(value),
    };
    for figure in measured {
        let kind = figure.kind;
        let figure = Figure {
            name: kind.name.to_owned(),
            value: short(figure.value),
            unit: kind.unit.to_owned(),
            better: kind.better,
            peer: figure.peer.as_ref().map(|peer| peer.name.clone()),
            peer_value: figure.peer.as_ref().map(|peer| short(peer.value)),
            ratio: figure.ratio().map(short),
            commit: None,
        };
        match figures.iter_mut().find(|known| known.name == figure.name) {
            Some(known) => *known = figure,
            None => figures.push(figure),
        }
    }
    let results = Results { commit: machine.commit.clone(), machine: machine.description.clone(), figures };
    let mut text = serde_json::to_vec_pretty(&results)?;
    text.push(b'\n');
    std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    static SPEED: Kind = Kind { name: "speed", unit: "1/s", better: Better::Higher, target: Some(5.0) };
    static SIZE: Kind = Kind { name: "size", unit: "MB", better: Better::Lower, target: Some(5.0) };

    fn read(path: &Path) -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }

    #[test]
    fn a_target_is_reached_from_its_good_side() {
        assert_eq!([SPEED.is_reached(6.0), SPEED.is_reached(4.0)], [Some(true), Some(false)]);
        assert_eq!([SIZE.is_reached(6.0), SIZE.is_reached(5.0)], [Some(false), Some(true)]);
    }

    #[test]
    fn figures_of_a_machine_add_up_and_those_of_an_earlier_commit_say_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.json");
        let of = |commit: &str, machine: &str| Machine { commit: commit.to_owned(), description: machine.to_owned() };
        keep(&path, &of("a", "here"), &[SPEED.is(1.0, ""), SIZE.is(2.00049, "")]).unwrap();
        keep(&path, &of("a", "here"), &[SPEED.is(3.0, "")]).unwrap();
        let [speed, size] = [
            serde_json::json!({"name": "speed", "value": 3.0, "unit": "1/s", "better": "higher"}),
            serde_json::json!({"name": "size", "value": 2.0, "unit": "MB", "better": "lower"}),
        ];
        assert_eq!(read(&path), serde_json::json!({"commit": "a", "machine": "here", "figures": [speed, size]}));
        let beside = serde_json::json!({"name": "size", "value": 4.0, "unit": "MB", "better": "lower",
            "peer": "other 1", "peer_value": 6.0, "ratio": 1.5});
        let mut earlier = speed.clone();
        earlier["commit"] = "a".into();
        for _ in 0..2 {
            keep(&path, &of("b", "here"), &[SIZE.is(4.0, "").beside("other 1", 6.0)]).unwrap();
            assert_eq!(
                read(&path),
                serde_json::json!({"commit": "b", "machine": "here", "figures": [earlier, beside]})
            );
        }
        keep(&path, &of("a", "here"), &[]).unwrap();
        assert_eq!(read(&path)["figures"][0], speed);
        keep(&path, &of("b", "there"), &[SIZE.is(4.0, "").beside("other 1", 6.0)]).unwrap();
        assert_eq!(read(&path)["figures"], serde_json::json!([beside]));
    }

    #[test]
    fn better_is_more_than_once_as_good() {
        assert_eq!(SPEED.is(4.0, "").beside("other", 2.0).ratio(), Some(2.0));
    }
}
