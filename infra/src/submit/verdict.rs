//! Verdicts on their way from the projector to the requests that wait for them.

use stash_domain::admit::Judged;
use stash_domain::ids::CommandId;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tokio::sync::oneshot;

/// Requests of this process that wait for a verdict, by command. Bounded by the requests in flight: each entry is removed when
/// its request ends, whatever the outcome.
#[derive(Default)]
pub struct VerdictHub {
    waiting: Mutex<HashMap<CommandId, Vec<oneshot::Sender<Judged>>>>,
}

impl VerdictHub {
    /// Starts waiting; call it before the append, so that no verdict is missed.
    pub fn wait(&self, command: CommandId) -> oneshot::Receiver<Judged> {
        let (sender, receiver) = oneshot::channel();
        self.lock().entry(command).or_default().push(sender);
        receiver
    }

    /// Hands out verdicts, after the projector's commit.
    pub fn judged<'a>(&self, verdicts: impl IntoIterator<Item = (CommandId, &'a Judged)>) {
        let mut waiting = self.lock();
        if waiting.is_empty() {
            return;
        }
        for (command, judged) in verdicts {
            for sender in waiting.remove(&command).unwrap_or_default() {
                let _ = sender.send(judged.clone());
            }
        }
    }

    /// Stops waiting for a command whose request has ended.
    pub(super) fn forget(&self, command: CommandId) {
        let mut waiting = self.lock();
        if let Some(senders) = waiting.get_mut(&command) {
            senders.retain(|sender| !sender.is_closed());
            if senders.is_empty() {
                waiting.remove(&command);
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<CommandId, Vec<oneshot::Sender<Judged>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
