//! A full disk: what cannot be written is refused and nothing that was acknowledged is lost; `stash doctor` says what is the matter;
//! once there is room again everything goes on.

use crate::support::client::Seen;
use crate::support::load::{Load, Mix};
use crate::support::process::{Process, Role};
use crate::support::site::{Log, Site};
use crate::support::small_disk::SmallDisk;
use crate::support::{check, seed, turn, until};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Room for artifacts, in MiB.
const ARTIFACTS_MIB: u32 = 16;

/// Room for a data folder with Postgres in it, in MiB: a new cluster takes about 60, its journal grows to some multiple of 16.
const DATA_MIB: u32 = 256;

/// Refusals after which the disk counts as full for the clients.
const REFUSALS: u64 = 20;

/// How long the disk stays full after that, with every client trying again and again.
const FULL_FOR: Duration = Duration::from_secs(10);

/// How long anything may take to happen. Until Postgres refuses, the clients fill the journal it had made room for, which a busy
/// machine takes minutes for.
const HAPPENS_MAX: Duration = Duration::from_secs(400);

/// Where nothing can be mounted: bytes of a file of the process that answers, below a large import's blob.
const FILE_BYTES: u64 = 64 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn the_artifact_folder_is_full() {
    let _turn = turn().await;
    let seed = seed("full artifact folder");
    let site = Site::start(Log::Postgres).await;
    let artifacts = site.data().join("artifacts");
    let disk = SmallDisk::make(&artifacts, ARTIFACTS_MIB);
    let http = reqwest::Client::new();
    let mut roles = Vec::new();
    for role in Role::ALL {
        let mut process = Process::spawn(&site, role);
        process.ready(&http).await;
        roles.push(process);
    }
    let account = site.account("load@example.org").await;
    let seen = Arc::new(Seen::default());
    let load = Load::start(&site, &account, &seen, seed, Mix { large_imports: 50 });
    progress(&load, "before the disk is full").await;
    let api = roles[Role::Api as usize].id();
    disk.fill(api, FILE_BYTES);
    refused(&seen, &seen.storage_full).await;
    if disk.is_mounted() {
        doctor_names(&site, &artifacts).await;
    }
    disk.free(api);
    progress(&load, "after the disk was full").await;
    let ledger = load.stop().await;
    println!("{}", seen.summary());
    seen.assert_nothing_wrong();
    for process in &mut roles {
        process.assert_alive();
    }
    check::everything(&site, &[(account.owner, &ledger)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_data_folder_with_postgres_in_it_is_full() {
    let _turn = turn().await;
    let seed = seed("full data folder");
    let mut site = Site::embedded();
    let disk = SmallDisk::make(&site.data(), DATA_MIB);
    let http = reqwest::Client::new();
    let mut process = Process::up(&site);
    process.ready(&http).await;
    site.join_embedded();
    let account = site.account("load@example.org").await;
    let seen = Arc::new(Seen::default());
    let load = Load::start(&site, &account, &seen, seed, Mix { large_imports: 20 });
    progress(&load, "before the disk is full").await;
    disk.fill(process.id(), FILE_BYTES);
    // Where the read models find no room before the log does, commands wait for those, and are refused for that.
    refused(&seen, &seen.unavailable).await;
    if disk.is_mounted() {
        doctor_names(&site, &site.data()).await;
    }
    disk.free(process.id());
    progress(&load, "after the disk was full").await;
    process.ready(&http).await;
    let ledger = load.stop().await;
    println!("{}", seen.summary());
    seen.assert_nothing_wrong();
    process.assert_alive();
    check::everything(&site, &[(account.owner, &ledger)]).await;
}

/// Waits until clients were refused often enough, by one of the counts of `seen`, and keeps them trying.
async fn refused(seen: &Seen, count: &AtomicU64) {
    let before = count.load(Ordering::Relaxed);
    until("refusals while the disk is full", HAPPENS_MAX, async || {
        (count.load(Ordering::Relaxed) >= before + REFUSALS).then_some(())
    })
    .await;
    // The fault's length.
    tokio::time::sleep(FULL_FOR).await;
    println!("while the disk was full: {}", seen.summary());
}

/// The doctor says that the disk of this folder has no room, and what to do.
async fn doctor_names(site: &Site, folder: &Path) {
    let (success, out, err) = site.try_stash(&["doctor", "--json"]).await;
    assert!(!success, "the doctor finds nothing wrong with a full disk:\n{out}\n{err}");
    let report: Value =
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("the doctor printed no JSON:\n{out}\n{err}"));
    let checks = report["checks"].as_array().expect("checks");
    let named = checks.iter().find(|check| {
        let found = check["found"].as_str().unwrap_or_default();
        check["check"] == "disk space" && found.contains(&folder.display().to_string())
    });
    let named = named.unwrap_or_else(|| panic!("the doctor does not name {}:\n{out}", folder.display()));
    assert_eq!(named["state"], "broken", "{named}");
    assert!(named["cure"].as_str().is_some_and(|cure| cure.contains("free")), "{named}");
    println!("doctor: {}", named["found"].as_str().unwrap_or_default());
}

/// Waits until each client has got some further changes through.
async fn progress(load: &Load, when: &str) {
    let before = load.done();
    until(&format!("every client to get on, {when}"), HAPPENS_MAX, async || {
        load.done().iter().zip(&before).all(|(now, before)| *now >= before + 10).then_some(())
    })
    .await;
}
