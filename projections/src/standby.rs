//! One projector at a time: the others stand by until its lease is free.
//!
//! The checkpoint's epoch keeps two projectors from ever writing the same record twice; the lease only keeps them from taking
//! over from each other all the time. So a lease that cannot be asked costs nothing: the holder goes on.

use crate::error::{ApplyError, ProjectionError};
use crate::projector::{OnFenced, Projector};
use stash_infra::lease::{HEARTBEAT_EVERY, ProjectionLease, ProjectionLeases};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What the lease is about: the live read models, of whichever generation.
const PROJECTION: &str = "live";

/// How often a projector that stands by asks for the lease.
const STANDBY_LOOK: Duration = Duration::from_secs(1);

impl Projector {
    /// [`Projector::run`] while this process holds the lease; waits for it whenever another one does. `holder` names the process:
    /// unique among those that run, and best the same after a restart, which then need not wait for its own lease to expire.
    ///
    /// # Errors
    /// As [`Projector::run`].
    pub async fn run_leased(
        &self,
        leases: &ProjectionLeases,
        holder: &str,
        stop: CancellationToken,
    ) -> Result<(), ProjectionError> {
        let mut told = false;
        loop {
            match leases.acquire(PROJECTION, holder).await {
                Ok(Some(lease)) => {
                    told = false;
                    let ended = self.run_while_held(leases, &lease, &stop).await;
                    // A rebuild has switched, or another one took over while this process stood still.
                    let fenced = matches!(ended, Err(ProjectionError::Apply(ApplyError::Fenced)));
                    if stop.is_cancelled() || (ended.is_err() && !fenced) {
                        if let Err(error) = leases.release(&lease).await {
                            tracing::debug!(%error, "the projection's lease is left to expire");
                        }
                        return if fenced { Ok(()) } else { ended };
                    }
                    tracing::info!("the projector gave way; it goes on if it can have the lease");
                }
                Ok(None) if !told => {
                    tracing::info!("another projector is at work; standing by");
                    told = true;
                }
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "cannot ask for the projection's lease"),
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = tokio::time::sleep(STANDBY_LOOK) => {}
            }
        }
    }

    /// Projects until the lease is lost or the token is cancelled.
    async fn run_while_held(
        &self,
        leases: &ProjectionLeases,
        lease: &ProjectionLease,
        stop: &CancellationToken,
    ) -> Result<(), ProjectionError> {
        let held = stop.child_token();
        let work = self.run_until(held.clone(), OnFenced::Leave);
        tokio::pin!(work);
        let mut beats = tokio::time::interval(HEARTBEAT_EVERY);
        beats.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                ended = &mut work => return ended,
                _ = beats.tick() => match leases.heartbeat(lease).await {
                    Ok(true) => {}
                    Ok(false) => held.cancel(),
                    Err(error) => tracing::warn!(%error, "cannot renew the projection's lease"),
                },
            }
        }
    }
}
