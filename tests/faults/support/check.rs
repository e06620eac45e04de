//! The final comparison: ledger = read models, one verdict for each command of the log, rebuild = live.

use super::ledger::{Ledger, Note, Told, Trace};
use super::log_records::Records;
use super::site::Site;
use super::until;
use stash_domain::ids::{CommandId, OwnerId};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use uuid::Uuid;

/// How long the projector may take to come up with the log after a fault.
const CATCH_UP_MAX: Duration = Duration::from_secs(120);

/// Compares everything. `owners` are the accounts with what their clients were told; returns the log's records.
pub(crate) async fn everything(site: &Site, owners: &[(OwnerId, &Ledger)]) -> Records {
    caught_up(site).await;
    let dead: i64 = one(site, "SELECT count(*) FROM rm.dead_letter").await;
    assert_eq!(dead, 0, "no record is put aside");
    let records = Records::read(site).await;
    let verdicts = verdicts(site).await;
    let judged: BTreeSet<CommandId> = verdicts.keys().copied().collect();
    let logged: BTreeSet<CommandId> = records.commands.keys().copied().collect();
    assert_eq!(judged, logged, "each command of the log has one verdict, and no other has any");
    for (owner, ledger) in owners {
        compare_verdicts(ledger, &verdicts);
        compare_rows(site, *owner, ledger).await;
    }
    rebuild(site).await;
    println!("{} records, {} commands", records.count, records.commands.len());
    records
}

/// Commands that were accepted.
pub(crate) async fn accepted(site: &Site) -> BTreeSet<CommandId> {
    verdicts(site).await.into_iter().filter(|(_, accepted)| *accepted).map(|(id, _)| id).collect()
}

/// Waits until the read models hold every record of the log.
async fn caught_up(site: &Site) {
    let log = site.log().await;
    let mut tails = BTreeMap::new();
    for number in 0..log.partitions() {
        let tail = log.tail(stash_domain::position::Partition(number)).await.expect("the tail");
        tails.insert(i32::from(number), tail.0.cast_signed());
    }
    until("the projector to come to the end of the log", CATCH_UP_MAX, async || {
        let places: Vec<(i32, i64)> = sqlx::query_as("SELECT partition, next_offset FROM rm.es_checkpoint")
            .fetch_all(&site.pool)
            .await
            .expect("the checkpoints");
        let places: BTreeMap<i32, i64> = places.into_iter().collect();
        tails.iter().all(|(partition, tail)| places.get(partition) >= Some(tail)).then_some(())
    })
    .await;
}

async fn one(site: &Site, statement: &'static str) -> i64 {
    sqlx::query_scalar(statement).fetch_one(&site.pool).await.expect("a number")
}

/// Each command's verdict: whether it was accepted.
async fn verdicts(site: &Site) -> BTreeMap<CommandId, bool> {
    let rows: Vec<(Uuid, String)> = sqlx::query_as("SELECT command_id, verdict FROM rm.es_command")
        .fetch_all(&site.pool)
        .await
        .expect("the verdicts");
    let count = rows.len();
    let verdicts: BTreeMap<_, _> =
        rows.into_iter().map(|(id, verdict)| (CommandId(id), verdict == "accepted")).collect();
    assert_eq!(verdicts.len(), count, "a command has two verdicts");
    verdicts
}

fn compare_verdicts(ledger: &Ledger, verdicts: &BTreeMap<CommandId, bool>) {
    for (id, (told, what)) in &ledger.told {
        let held = verdicts.get(id) == Some(&true);
        match told {
            Told::Accepted => assert!(held, "acknowledged and lost: {what} ({id}): {:?}", verdicts.get(id)),
            Told::Refused(status) => assert!(!held, "refused with {status} and in force all the same: {what} ({id})"),
        }
    }
}

type TraceRow = (Uuid, Option<String>, String, String);
type NoteRow = (Uuid, Uuid, Option<i16>, Option<String>, i64);

/// The read models hold what the ledger says: nothing more, nothing less, nothing else.
async fn compare_rows(site: &Site, owner: OwnerId, ledger: &Ledger) {
    let traces: Vec<TraceRow> = sqlx::query_as(
        "SELECT t.trace_id, t.external_id, t.title, s.content FROM rm.rm_traces t
         JOIN rm.rm_steps s ON s.owner_id = t.owner_id AND s.trace_id = t.trace_id AND s.idx = t.step_count - 1
         WHERE t.owner_id = $1",
    )
    .bind(owner.0)
    .fetch_all(&site.pool)
    .await
    .expect("the traces");
    let notes: Vec<NoteRow> = sqlx::query_as(
        "SELECT annotation_id, trace_id, rating, comment, version FROM rm.rm_annotations WHERE owner_id = $1",
    )
    .bind(owner.0)
    .fetch_all(&site.pool)
    .await
    .expect("the annotations");
    let mut found: BTreeMap<Uuid, Trace> = BTreeMap::new();
    for (id, external, title, last_step) in traces {
        let external = external.expect("all traces of the load have external ids");
        let twice = found.insert(id, Trace { external, title, last_step, notes: BTreeMap::new() });
        assert!(twice.is_none(), "trace {id} is there twice");
    }
    for (id, trace, rating, comment, version) in notes {
        let trace = found.get_mut(&trace).unwrap_or_else(|| panic!("annotation {id} is left of a deleted trace"));
        trace.notes.insert(id, Note { rating, comment, version: version.cast_unsigned() });
    }
    for (id, trace) in &ledger.traces {
        let shown = found.get(id).unwrap_or_else(|| panic!("acknowledged and lost: trace {} ({id})", trace.external));
        assert_eq!(shown.external, trace.external, "external id of {id}");
        assert_eq!(shown.title, trace.title, "title of {id}");
        assert!(
            shown.last_step == trace.last_step,
            "the last step of {} is not that of its last import",
            trace.external
        );
        assert_eq!(shown.notes, trace.notes, "annotations of {}", trace.external);
    }
    let more: Vec<&Uuid> = found.keys().filter(|id| !ledger.traces.contains_key(id)).collect();
    assert!(more.is_empty(), "traces that were never acknowledged or are deleted: {more:?}");
}

/// A rebuild from the first record gives the same rows: the program compares the digests itself, and fails otherwise.
async fn rebuild(site: &Site) {
    let rebuilt = site.stash(&["projections", "rebuild", "--json"]).await;
    assert_eq!(rebuilt["different"], serde_json::json!([]), "tables that differ after a rebuild");
    let tables = rebuilt["tables"].as_array().map_or(0, Vec::len);
    assert!(tables > 5, "the rebuild compared {tables} tables");
}
