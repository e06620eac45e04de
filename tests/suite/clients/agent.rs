//! The agents of `tests/clients`, run as their users would.

use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Where the set-up put the clients' packages.
fn packages(name: &str) -> PathBuf {
    let deps = std::env::var_os("STASH_DEPS_DIR").map_or_else(|| root().join(".deps"), PathBuf::from);
    let folder = deps.join(name);
    assert!(folder.join(".stamp").exists(), "{} is missing; run: infra/deps/install.sh clients", folder.display());
    folder
}

/// The repository.
pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A run of an agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Agent {
    /// Its language, whose settings it gets.
    pub(super) language: Language,
    /// The instrumentation, as the agent's program names it.
    pub(super) instrumentation: &'static str,
    /// Further words for the program.
    pub(super) options: &'static [&'static str],
    /// Settings of the instrumentation or of the exporter.
    pub(super) settings: &'static [(&'static str, &'static str)],
}

/// What runs an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// `python3`
    Python,
    /// `node`
    JavaScript,
}

impl Agent {
    /// Runs it to its end; returns the id of its trace.
    pub(super) async fn run(&self, settings: &[(String, String)]) -> Result<String, String> {
        let clients = root().join("tests/clients");
        let mut command = match self.language {
            Language::Python => {
                let name = if self.instrumentation == "genai-openai" { "client-python-genai" } else { "client-python" };
                let mut command = tokio::process::Command::new("python3");
                // Its packages only, none of the machine's user, and nothing left in the clone.
                command
                    .env("PYTHONPATH", packages(name))
                    .env("PYTHONNOUSERSITE", "1")
                    .env("PYTHONDONTWRITEBYTECODE", "1");
                command.arg(clients.join("python/agent.py"));
                command
            }
            Language::JavaScript => {
                let mut command = tokio::process::Command::new("node");
                command.env("NODE_PATH", packages("client-js").join("node_modules"));
                command.arg(clients.join("js/agent.js"));
                command
            }
        };
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("OTEL_") || name.starts_with("OPENAI_")) {
                command.env_remove(name);
            }
        }
        command
            .arg(self.instrumentation)
            .args(self.options)
            .env("NO_PROXY", "127.0.0.1")
            .env("no_proxy", "127.0.0.1")
            .envs(settings.iter().map(|(name, value)| (name, value)))
            .envs(self.settings.iter().copied())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let output = command.output().await.unwrap();
        let (said, complained) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
        // An exporter that loses spans says so and ends well.
        let lost = ["ailed to export", "Exporter", "OTLP", "Traceback"].iter().any(|word| complained.contains(word));
        if !output.status.success() || lost {
            return Err(format!("{}: {said}{complained}", output.status));
        }
        Ok(said.trim().to_owned())
    }
}
