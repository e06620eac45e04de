//! When to stop: at the first SIGTERM or SIGINT in order, at the second at once.

use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Exit code of a process that was told twice to stop: as a shell says it of one that SIGINT ended.
const TOLD_TWICE: i32 = 130;

/// Tells the parts of a process when to stop. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(CancellationToken);

impl Stop {
    /// Stops on signals from now on.
    pub(crate) fn on_signals() -> anyhow::Result<Self> {
        let this = Self::default();
        let token = this.0.clone();
        let mut terminate = signal(SignalKind::terminate()).context("SIGTERM cannot be listened to")?;
        let mut interrupt = signal(SignalKind::interrupt()).context("SIGINT cannot be listened to")?;
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
                if token.is_cancelled() {
                    tracing::warn!("told again to stop: ending at once");
                    // The embedded Postgres ends with the process, and recovers when it starts next.
                    std::process::exit(TOLD_TWICE);
                }
                tracing::info!("stopping");
                token.cancel();
            }
        });
        Ok(this)
    }

    /// Asks for the stop.
    pub(crate) fn ask(&self) {
        self.0.cancel();
    }

    /// Resolves when it is asked for.
    pub(crate) async fn asked(&self) {
        self.0.cancelled().await;
    }

    /// A token that is cancelled with this one.
    pub(crate) fn token(&self) -> CancellationToken {
        self.0.child_token()
    }
}
