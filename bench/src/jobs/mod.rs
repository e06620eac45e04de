//! The jobs: one file per figure, or per figures that come of one measurement.

mod checkpoint_in_transformers_max_diff;
mod command_to_readable_p99_ms;
mod commands_per_s;
mod idle_mb;
mod import_1gb_peak_mb;
mod import_mb_per_s;
mod model;
mod otlp_1000_call_trace_vs_100;
mod otlp_spans_per_s;
mod parse_mb_per_s;
mod ready_s;
mod rebuild_events_per_s;
mod score_12_actions_1000_tokens_vs_hf_bf16;
mod score_tokens_per_s;
mod tau;
mod tau_airline_accuracy_minus_trl;
mod train_loss_max_diff_20_steps;
mod train_pairs_per_s_vs_trl;
mod train_tokens_per_s;
mod trl;

use crate::bench::{Bench, Log};
use crate::figure::{Kind, Measured};
use anyhow::bail;

/// A job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    CommandsPerS(Log),
    CommandToReadable(Log),
    ParseMbPerS,
    ImportMbPerS,
    Import1GbPeakMb,
    OtlpSpansPerS,
    OtlpLongTrace,
    RebuildEventsPerS,
    ReadyS,
    IdleMb,
    ScoreTokensPerS,
    ScoreBesideTransformers,
    TrainTokensPerS,
    TrainLossVsTrl,
    TrainPairsVsTrl,
    TauVsTrl,
    CheckpointInTransformers,
}

/// All jobs, in the order in which they run: the paced loads after those whose rate they need.
const ALL: [Job; 19] = [
    Job::CommandsPerS(Log::Postgres),
    Job::CommandToReadable(Log::Postgres),
    Job::CommandsPerS(Log::Kafka),
    Job::CommandToReadable(Log::Kafka),
    Job::ParseMbPerS,
    Job::ImportMbPerS,
    Job::Import1GbPeakMb,
    Job::OtlpSpansPerS,
    Job::OtlpLongTrace,
    Job::RebuildEventsPerS,
    Job::ReadyS,
    Job::IdleMb,
    Job::ScoreTokensPerS,
    Job::ScoreBesideTransformers,
    Job::TrainTokensPerS,
    Job::TrainLossVsTrl,
    Job::TrainPairsVsTrl,
    Job::TauVsTrl,
    Job::CheckpointInTransformers,
];

impl Job {
    /// The figures that it measures.
    fn kinds(self) -> &'static [Kind] {
        match self {
            Self::CommandsPerS(log) => commands_per_s::kinds(log),
            Self::CommandToReadable(log) => command_to_readable_p99_ms::kinds(log),
            Self::ParseMbPerS => &parse_mb_per_s::KINDS,
            Self::ImportMbPerS => &import_mb_per_s::KINDS,
            Self::Import1GbPeakMb => &import_1gb_peak_mb::KINDS,
            Self::OtlpSpansPerS => &otlp_spans_per_s::KINDS,
            Self::OtlpLongTrace => &otlp_1000_call_trace_vs_100::KINDS,
            Self::RebuildEventsPerS => &rebuild_events_per_s::KINDS,
            Self::ReadyS => &ready_s::KINDS,
            Self::IdleMb => &idle_mb::KINDS,
            Self::ScoreTokensPerS => &score_tokens_per_s::KINDS,
            Self::ScoreBesideTransformers => &score_12_actions_1000_tokens_vs_hf_bf16::KINDS,
            Self::TrainTokensPerS => &train_tokens_per_s::KINDS,
            Self::TrainLossVsTrl => &train_loss_max_diff_20_steps::KINDS,
            Self::TrainPairsVsTrl => &train_pairs_per_s_vs_trl::KINDS,
            Self::TauVsTrl => &tau_airline_accuracy_minus_trl::KINDS,
            Self::CheckpointInTransformers => &checkpoint_in_transformers_max_diff::KINDS,
        }
    }

    /// Their names.
    pub(crate) fn names(self) -> Vec<&'static str> {
        self.kinds().iter().map(|kind| kind.name).collect()
    }

    /// Measures.
    pub(crate) async fn run(self, bench: &mut Bench) -> anyhow::Result<Vec<Measured>> {
        match self {
            Self::CommandsPerS(log) => commands_per_s::run(bench, log).await,
            Self::CommandToReadable(log) => command_to_readable_p99_ms::run(bench, log).await,
            Self::ParseMbPerS => parse_mb_per_s::run(bench),
            Self::ImportMbPerS => import_mb_per_s::run(bench).await,
            Self::Import1GbPeakMb => import_1gb_peak_mb::run(bench).await,
            Self::OtlpSpansPerS => otlp_spans_per_s::run(bench).await,
            Self::OtlpLongTrace => otlp_1000_call_trace_vs_100::run(bench).await,
            Self::RebuildEventsPerS => rebuild_events_per_s::run(bench).await,
            Self::ReadyS => ready_s::run(bench).await,
            Self::IdleMb => idle_mb::run(bench).await,
            Self::ScoreTokensPerS => score_tokens_per_s::run(bench),
            Self::ScoreBesideTransformers => score_12_actions_1000_tokens_vs_hf_bf16::run(bench),
            Self::TrainTokensPerS => train_tokens_per_s::run(bench),
            Self::TrainLossVsTrl => train_loss_max_diff_20_steps::run(bench),
            Self::TrainPairsVsTrl => train_pairs_per_s_vs_trl::run(bench),
            Self::TauVsTrl => tau_airline_accuracy_minus_trl::run(bench),
            Self::CheckpointInTransformers => checkpoint_in_transformers_max_diff::run(bench).await,
        }
    }
}

/// The jobs that measure the named figures; all of them for no name.
///
/// # Errors
/// When there is no figure of a name; the text lists them.
pub(crate) fn choose(only: &[String]) -> anyhow::Result<Vec<Job>> {
    let names = || ALL.iter().flat_map(|job| job.names());
    if let Some(unknown) = only.iter().find(|name| !names().any(|known| known == name.as_str())) {
        bail!("there is no figure {unknown:?}; there are {}", names().collect::<Vec<_>>().join(", "));
    }
    let is_chosen = |job: &Job| only.is_empty() || job.names().iter().any(|name| only.iter().any(|only| only == name));
    Ok(ALL.into_iter().filter(is_chosen).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_figure_has_a_name_of_its_own_and_can_be_chosen() {
        let names: Vec<_> = ALL.iter().flat_map(|job| job.names()).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for name in names {
            let chosen = choose(&[name.to_owned()]).unwrap();
            assert!(chosen.len() == 1 && chosen[0].names().contains(&name));
        }
        assert_eq!(choose(&[]).unwrap().len(), ALL.len());
        assert!(choose(&["commands".to_owned()]).unwrap_err().to_string().contains("idle_mb"));
    }
}
