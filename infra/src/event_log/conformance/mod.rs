//! What every event log must do, as tests that take any implementation. Declared once: a backend's own test is a line that
//! says how to open it.
//!
//! A case gets a [`Place`]: somewhere a new, empty log is, which can be opened several times at once, as several processes do.
//! To add a case, write the function and name it in `CASES`; one that is not named there does not compile without a warning.

mod append;
mod read;
mod support;
mod time;

use super::EventLog;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt as _};
use std::sync::Arc;

/// Partitions of the log of a place. More than one, and few enough that each gets records.
pub const PARTITIONS: u16 = 4;

/// Cases that run at once: two cores and one server serve them all.
const CASES_AT_ONCE: usize = 4;

type Open = dyn Fn() -> BoxFuture<'static, Arc<dyn EventLog>> + Send + Sync;

/// Where one new log is.
#[derive(Clone)]
pub struct Place(Arc<Open>);

impl Place {
    /// A place whose log `open` opens; each call gives a handle of its own on the same log, with [`PARTITIONS`] partitions.
    pub fn new<F>(open: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Arc<dyn EventLog>> + Send + 'static,
    {
        Self(Arc::new(move || Box::pin(open())))
    }

    async fn open(&self) -> Arc<dyn EventLog> {
        self.0().await
    }
}

type Case = fn(Place) -> BoxFuture<'static, ()>;

macro_rules! cases {
    ($($module:ident::$name:ident),* $(,)?) => {
        &[$((stringify!($name), |place| Box::pin($module::$name(place)))),*]
    };
}

const CASES: &[(&str, Case)] = cases![
    append::a_new_log_is_empty,
    append::a_log_made_by_many_at_once_is_one,
    append::no_records_give_no_positions,
    append::offsets_are_gapless_under_concurrent_writers,
    append::the_records_of_a_call_keep_their_order,
    append::bytes_are_kept_verbatim,
    append::a_record_at_the_limit_fits_and_one_byte_more_does_not,
    append::a_call_of_any_size_is_taken,
    append::a_partition_that_is_not_there_is_refused,
    append::what_one_handle_appends_another_reads,
    append::a_log_that_is_opened_again_is_the_same,
    read::reading_begins_anywhere,
    read::reading_at_the_tail_ends_with_its_wait,
    read::reading_beyond_the_tail_is_refused,
    read::a_waiting_reader_is_woken,
    read::readers_do_not_disturb_each_other,
    read::only_the_named_partitions_are_read,
    read::a_read_is_bounded_by_count_and_by_bytes,
    read::a_cancelled_read_loses_nothing,
    read::a_reader_follows_concurrent_writers,
    time::times_never_decrease,
    time::a_time_is_found,
];

/// Runs every case at a place of its own.
///
/// # Panics
/// When a case fails; the text names all that did, after each has said why.
pub async fn run<F>(place: impl Fn() -> F)
where
    F: Future<Output = Place>,
{
    let outcomes = stream::iter(CASES).map(|(name, case)| {
        let place = place();
        async move {
            let passed = tokio::spawn(case(place.await)).await.is_ok();
            println!("{name} ... {}", if passed { "ok" } else { "FAILED" });
            (!passed).then_some(*name)
        }
    });
    let failed: Vec<&str> =
        outcomes.buffer_unordered(CASES_AT_ONCE).filter_map(|outcome| async move { outcome }).collect().await;
    assert!(failed.is_empty(), "{} of {} cases failed: {}", failed.len(), CASES.len(), failed.join(", "));
}
