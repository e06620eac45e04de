//! Postgres or the broker stops, or hangs, for a while under load: requests are refused with 503 and a time to try again, none waits
//! for ever, and afterwards everything goes on by itself with nothing skipped.

use crate::support::client::Seen;
use crate::support::load::{Load, Mix};
use crate::support::process::{Process, Role};
use crate::support::site::{Log, Service, Site};
use crate::support::{check, number, seed, turn, until};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Seconds of each outage where the environment says nothing.
const AWAY_S: u64 = 20;

/// A hang is longer than the clients' patience, so that one which is passed on to them is found out.
const HANG_S: u64 = 35;

/// Changes that each client makes before an outage, and again after it.
const CHANGES: u64 = 25;

/// How long it may take until every client gets on after an outage.
const RECOVERY_MAX: Duration = Duration::from_secs(90);

#[tokio::test(flavor = "multi_thread")]
async fn postgres_is_away_with_the_log_in_it() {
    outages(Log::Postgres, &[Service::Postgres]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_broker_and_postgres_are_away_with_the_log_in_kafka() {
    outages(Log::Kafka, &[Service::Broker, Service::Postgres]).await;
}

/// What happens to a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outage {
    /// It ends, and is started again later.
    Stopped,
    /// It neither answers nor ends, and goes on later.
    Hangs,
}

async fn outages(log: Log, services: &[Service]) {
    let _turn = turn().await;
    let seed = seed(&format!("services away, log in {log:?}"));
    let site = Arc::new(Site::start(log).await);
    let http = reqwest::Client::new();
    let mut roles = Vec::new();
    for role in Role::ALL {
        let mut process = Process::spawn(&site, role);
        process.ready(&http).await;
        roles.push(process);
    }
    let account = site.account("load@example.org").await;
    let seen = Arc::new(Seen::default());
    let load = Load::start(&site, &account, &seen, seed, Mix { large_imports: 5 });
    let away = Duration::from_secs(number("STASH_FAULT_AWAY_S").unwrap_or(AWAY_S));
    for service in services {
        for (outage, length) in [(Outage::Stopped, away), (Outage::Hangs, away.max(Duration::from_secs(HANG_S)))] {
            progress(&load, "before an outage").await;
            let refused = seen.unavailable.load(Ordering::Relaxed);
            let begin = Instant::now();
            begin_outage(&site, *service, outage).await;
            // The outage itself.
            tokio::time::sleep(length).await;
            let refused = seen.unavailable.load(Ordering::Relaxed) - refused;
            end_outage(&site, *service, outage).await;
            println!("{service:?} {outage:?} for {:?}: {refused} times 503; {}", begin.elapsed(), seen.summary());
            assert!(refused > 0, "no request was answered with 503 while {service:?} was away ({outage:?})");
            let back = Instant::now();
            progress(&load, &format!("after {service:?} was away ({outage:?})")).await;
            for process in &mut roles {
                process.ready(&http).await;
            }
            println!("  every client and role got on within {:?}", back.elapsed());
        }
    }
    let ledger = load.stop().await;
    seen.assert_nothing_wrong();
    for process in &mut roles {
        process.assert_alive();
    }
    check::everything(&site, &[(account.owner, &ledger)]).await;
}

/// Waits until each client has got some further changes through.
async fn progress(load: &Load, when: &str) {
    let before = load.done();
    until(&format!("every client to get on, {when}"), RECOVERY_MAX, async || {
        let now = load.done();
        now.iter().zip(&before).all(|(now, before)| *now >= before + CHANGES).then_some(())
    })
    .await;
}

async fn begin_outage(site: &Arc<Site>, service: Service, outage: Outage) {
    on_thread(site, move |site| match outage {
        Outage::Stopped => site.stop_service(service),
        Outage::Hangs => site.freeze(service),
    })
    .await;
}

async fn end_outage(site: &Arc<Site>, service: Service, outage: Outage) {
    on_thread(site, move |site| match outage {
        Outage::Stopped => site.start_service(service),
        Outage::Hangs => site.thaw(service),
    })
    .await;
}

/// Does what blocks.
async fn on_thread(site: &Arc<Site>, work: impl FnOnce(&Site) + Send + 'static) {
    let site = Arc::clone(site);
    tokio::task::spawn_blocking(move || work(&site)).await.expect("the outage");
}
