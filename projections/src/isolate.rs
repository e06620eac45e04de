//! Finding the one record that cannot be applied: a batch that fails for its own sake is halved until a single record is left,
//! which is put aside; all others are applied, in order.

use crate::batch::{self, Applied, Entry, Mode};
use crate::checkpoint::Checkpoints;
use crate::error::ApplyError;
use crate::read_models::{Tools, ends_batch};
use sqlx::PgConnection;

/// Entries cut so that each run ends with its deletions; see [`ends_batch`].
fn runs(entries: &[Entry]) -> Vec<&[Entry]> {
    let ends = |entry: &Entry| entry.record.as_ref().is_ok_and(ends_batch);
    entries.chunk_by(|before, after| !ends(before) || ends(after)).collect()
}

/// Applies entries, isolating poison. Calls `on_applied` after each commit, with what it decided.
///
/// At most `2 n` transactions for `n` entries, and about `2 log2 n` for each poisonous one.
///
/// # Errors
/// Those that are not the entries' fault; what was committed before stays.
pub(crate) async fn apply(
    connection: &mut PgConnection,
    checkpoints: &mut Checkpoints,
    entries: &[Entry],
    tools: &Tools,
    on_applied: &mut (dyn FnMut(&Applied) + Send),
) -> Result<(), ApplyError> {
    // A stack instead of recursion: the parts still to do, the first on top.
    let mut todo = runs(entries);
    todo.reverse();
    while let Some(part) = todo.pop() {
        let mut outcome = batch::apply(connection, checkpoints, part, tools, Mode::Apply).await;
        if let (Err(error), [entry]) = (&outcome, part)
            && error.is_poison()
        {
            tracing::error!(partition = entry.position.partition.0, offset = entry.position.offset.0, %error,
                "a record cannot be applied; its streams are parked until `stash dead-letter replay`");
            metrics::counter!("stash_dead_letters_total").increment(1);
            tools.note_dead_letter();
            outcome = batch::apply(connection, checkpoints, part, tools, Mode::PutAside(error.code())).await;
        }
        match outcome {
            Ok(applied) => {
                checkpoints.moved(&applied.to);
                checkpoints.pruned(&applied.pruned);
                on_applied(&applied);
            }
            Err(error) if error.is_poison() && part.len() > 1 => {
                let (first, second) = part.split_at(part.len() / 2);
                todo.push(second);
                todo.push(first);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
