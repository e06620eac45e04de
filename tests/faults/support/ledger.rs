//! What a client was told, and so what must be there.

use stash_domain::ids::{CommandId, OwnerId, idempotent_command};
use std::collections::BTreeMap;
use uuid::Uuid;

/// An annotation as its last acknowledged change left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// 1, -1 or none.
    pub(crate) rating: Option<i16>,
    /// Its comment.
    pub(crate) comment: Option<String>,
    /// How often it was changed, its creation included.
    pub(crate) version: u64,
}

/// A trace as its last acknowledged import left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    /// Its external id.
    pub(crate) external: String,
    /// Its title.
    pub(crate) title: String,
    /// Content of its last step.
    pub(crate) last_step: String,
    /// Its annotations.
    pub(crate) notes: BTreeMap<Uuid, Note>,
}

/// What was said to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// 2xx: it holds.
    Accepted,
    /// 4xx, with its status: it changes nothing.
    Refused(u16),
}

/// The ledger of one account, or of one of its clients.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    /// Traces that must be there, and no others.
    pub(crate) traces: BTreeMap<Uuid, Trace>,
    /// Each command's outcome.
    pub(crate) told: BTreeMap<CommandId, (Told, String)>,
}

impl Ledger {
    /// Takes over what another client of the account was told.
    pub(crate) fn merge(&mut self, other: Self) {
        self.traces.extend(other.traces);
        self.told.extend(other.told);
    }
}

/// The command of a request, as the server derives it: from the owner, the route and the key.
pub(crate) fn command(owner: OwnerId, route: &str, key: &str) -> CommandId {
    let (method, path) = route.split_once(' ').expect("a method and a path");
    idempotent_command(owner, &format!("{method} /api/v1/rm{path}"), key)
}
