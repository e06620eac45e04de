//! Every backend of the event log passes the one suite.

use stash_infra::event_log::EventLog;
use stash_infra::event_log::conformance::{self, PARTITIONS, Place};
use stash_infra::event_log::postgres::PostgresLog;
use stash_infra::testing;
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_passes_the_suite() {
    conformance::run(|| async {
        let pool = testing::postgres().log_database().await;
        Place::new(move || {
            let pool = pool.clone();
            async move {
                let log: Arc<dyn EventLog> = Arc::new(PostgresLog::open(pool, PARTITIONS).await.unwrap());
                log
            }
        })
    })
    .await;
}
