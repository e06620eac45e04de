//! What could be wrong on this machine: one file per check. A check changes nothing, and says how to mend what it finds.

mod artifacts;
mod bases;
mod clock;
mod compute;
mod data_folder;
mod disk_space;
mod kafka;
mod onnx_runtime;
mod port;
mod postgres;
mod settings;
mod trainer;

use stash_infra::config::Settings;

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// As it should be.
    Ok,
    /// Something does without it, or will want it soon.
    Warning,
    /// Stash does not work like this.
    Broken,
}

impl State {
    /// As it is printed.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Broken => "broken",
        }
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The check.
    pub(crate) check: &'static str,
    /// How it is.
    pub(crate) state: State,
    /// What was found.
    pub(crate) found: String,
    /// How to mend it.
    pub(crate) cure: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, state: State::Ok, found: found.into(), cure: None }
    }

    fn warning(check: &'static str, found: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { check, state: State::Warning, found: found.into(), cure: Some(cure.into()) }
    }

    fn broken(check: &'static str, found: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { check, state: State::Broken, found: found.into(), cure: Some(cure.into()) }
    }
}

/// Runs all checks.
pub(crate) async fn examine(settings: &Settings) -> Vec<Finding> {
    let mut findings = settings::check();
    findings.push(data_folder::check(settings));
    findings.extend(disk_space::check(settings));
    findings.extend(postgres::check(settings).await);
    findings.extend(kafka::check(settings).await);
    findings.extend(artifacts::check(settings).await);
    findings.push(port::check(settings).await);
    findings.push(compute::check(settings));
    findings.push(trainer::check(settings));
    findings.push(onnx_runtime::check());
    findings.push(bases::check(settings));
    findings
}
