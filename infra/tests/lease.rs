//! Leases on a real server. Time is the database's, so "later" is a lease of no length.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use sqlx::PgPool;
use stash_domain::ids::{JobId, OwnerId};
use stash_infra::lease::{ExpiredLease, JobLease, JobLeases, ProjectionLeases};
use stash_infra::postgres::{self, PoolSizes};
use std::time::Duration;
use uuid::Uuid;

async fn pool() -> PgPool {
    let database = stash_infra::testing::postgres().database().await;
    postgres::open(&database.connect_options(), PoolSizes { api: 1, system: 8 }).await.unwrap().system
}

fn lease(job: u128, attempt: u32, worker: &str) -> JobLease {
    let owner_id = OwnerId(Uuid::from_u128(0xA));
    JobLease { job_id: JobId(Uuid::from_u128(job)), owner_id, attempt, worker: worker.into() }
}

#[tokio::test]
async fn one_worker_holds_an_attempt_and_a_later_attempt_takes_over() {
    let leases = JobLeases::new(pool().await);
    let first = lease(1, 1, "a");
    assert!(leases.acquire(&first).await.unwrap());
    assert!(leases.acquire(&first).await.unwrap(), "again by the same one");
    assert!(!leases.acquire(&lease(1, 1, "b")).await.unwrap(), "the same attempt by another");
    assert!(leases.is_held(first.job_id).await.unwrap());
    assert!(leases.heartbeat(&first).await.unwrap());

    let second = lease(1, 2, "b");
    assert!(leases.acquire(&second).await.unwrap());
    assert!(!leases.heartbeat(&first).await.unwrap(), "fenced");
    assert!(!leases.acquire(&first).await.unwrap());
    leases.release(&first).await.unwrap();
    assert!(leases.is_held(first.job_id).await.unwrap(), "a late release ends nobody else's lease");
    leases.release(&second).await.unwrap();
    assert!(!leases.is_held(first.job_id).await.unwrap());
    assert!(!leases.heartbeat(&second).await.unwrap());
}

#[tokio::test]
async fn an_expired_lease_is_found_and_reaped_unless_its_worker_comes_back() {
    let pool = pool().await;
    let (over, lasting) = (JobLeases::with_length(pool.clone(), Duration::ZERO), JobLeases::new(pool));
    let (lost, back, alive) = (lease(1, 1, "a"), lease(2, 3, "b"), lease(3, 1, "c"));
    assert!(over.acquire(&lost).await.unwrap());
    assert!(over.acquire(&back).await.unwrap());
    assert!(lasting.acquire(&alive).await.unwrap());
    let expired = lasting.expired(10).await.unwrap();
    let expected =
        |lease: &JobLease| ExpiredLease { job_id: lease.job_id, owner_id: lease.owner_id, attempt: lease.attempt };
    assert_eq!(expired, [expected(&lost), expected(&back)]);
    assert_eq!(lasting.expired(1).await.unwrap().len(), 1);

    assert!(lasting.heartbeat(&back).await.unwrap(), "late, but before it was reaped");
    assert!(lasting.reap(&expired[0]).await.unwrap());
    assert!(!lasting.reap(&expired[0]).await.unwrap());
    assert!(!lasting.reap(&expired[1]).await.unwrap());
    assert!(!lasting.reap(&expected(&alive)).await.unwrap());
    assert!(!lasting.heartbeat(&lost).await.unwrap());
    assert!(lasting.is_held(back.job_id).await.unwrap() && lasting.is_held(alive.job_id).await.unwrap());
    assert!(lasting.expired(10).await.unwrap().is_empty());
}

#[tokio::test]
async fn of_many_workers_at_once_one_gets_the_attempt() {
    let leases = JobLeases::new(pool().await);
    let workers: Vec<JobLease> = (0..16).map(|number| lease(1, 1, &format!("worker-{number}"))).collect();
    let got = futures::future::join_all(workers.iter().map(|lease| leases.acquire(lease))).await;
    assert_eq!(got.into_iter().filter(|got| *got.as_ref().unwrap()).count(), 1);
}

#[tokio::test]
async fn a_projection_has_one_holder_and_each_new_one_a_higher_epoch() {
    let pool = pool().await;
    let leases = ProjectionLeases::new(pool.clone());
    let first = leases.acquire("rm_v1", "a").await.unwrap().unwrap();
    assert_eq!(first.epoch, 1);
    assert_eq!(leases.acquire("rm_v1", "b").await.unwrap(), None);
    assert_eq!(leases.acquire("rm_v1", "a").await.unwrap().unwrap().epoch, 1);
    assert!(leases.heartbeat(&first).await.unwrap());
    assert_eq!(leases.acquire("rm_v2", "b").await.unwrap().unwrap().epoch, 1, "another projection is free");

    leases.release(&first).await.unwrap();
    let second = leases.acquire("rm_v1", "b").await.unwrap().unwrap();
    assert_eq!(second.epoch, 2);
    assert!(!leases.heartbeat(&first).await.unwrap());
    leases.release(&first).await.unwrap();
    assert!(leases.heartbeat(&second).await.unwrap(), "a late release ends nobody else's lease");

    // The holder dies: its lease runs out.
    let brief = ProjectionLeases::with_length(pool, Duration::ZERO);
    assert!(brief.heartbeat(&second).await.unwrap());
    let third = leases.acquire("rm_v1", "c").await.unwrap().unwrap();
    assert_eq!(third.epoch, 3);
    assert!(!leases.heartbeat(&second).await.unwrap());
}

#[tokio::test]
async fn of_many_projectors_at_once_one_becomes_the_holder() {
    let leases = ProjectionLeases::new(pool().await);
    let names: Vec<String> = (0..16).map(|number| format!("projector-{number}")).collect();
    let got = futures::future::join_all(names.iter().map(|name| leases.acquire("rm_v1", name))).await;
    assert_eq!(got.into_iter().filter(|got| got.as_ref().unwrap().is_some()).count(), 1);
}
