//! How many requests run at a host at once, and until when it wants none.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// One host's limit.
#[derive(Debug)]
pub(super) struct Gate {
    places: Semaphore,
    paused_until: Mutex<Option<Instant>>,
}

impl Gate {
    /// Waits for a place, and for the end of a pause.
    pub(super) async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        // Never closed, so a place always comes.
        let place = self.places.acquire().await.ok();
        loop {
            let until = *self.paused_until.lock().unwrap_or_else(PoisonError::into_inner);
            match until.filter(|until| *until > Instant::now()) {
                // A pause may have been made longer meanwhile.
                Some(until) => tokio::time::sleep_until(until).await,
                None => return place,
            }
        }
    }

    /// Lets nobody in for so long.
    pub(super) fn pause(&self, time: Duration) {
        let until = Instant::now() + time;
        let mut paused = self.paused_until.lock().unwrap_or_else(PoisonError::into_inner);
        *paused = Some(paused.map_or(until, |before| before.max(until)));
    }
}

/// Hosts remembered. Beyond that, limits begin anew, which only lets more requests through for a moment.
const HOSTS_MAX: usize = 256;

/// All hosts.
#[derive(Debug)]
pub(super) struct Gates {
    places: usize,
    hosts: Mutex<HashMap<String, Arc<Gate>>>,
}

impl Gates {
    pub(super) fn new(places: usize) -> Self {
        Self { places, hosts: Mutex::default() }
    }

    pub(super) fn of(&self, host: &str) -> Arc<Gate> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gate) = hosts.get(host) {
            return gate.clone();
        }
        if hosts.len() >= HOSTS_MAX {
            hosts.clear();
        }
        let gate = Arc::new(Gate { places: Semaphore::new(self.places), paused_until: Mutex::default() });
        hosts.insert(host.to_owned(), gate.clone());
        gate
    }
}
