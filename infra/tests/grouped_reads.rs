//! Grouped reads: one transaction for many requests, of one owner each, on a real server.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use futures::future::join_all;
use sqlx::{Executor as _, PgConnection};
use stash_domain::ids::OwnerId;
use stash_infra::postgres::grouped::{Grouped, KEYS_MAX, Lookup};
use stash_infra::postgres::{self, PoolSizes, Pools};
use uuid::Uuid;

const THINGS: &str = "
    CREATE SCHEMA rm_v1;
    GRANT USAGE ON SCHEMA rm_v1 TO stash_api;
    CREATE TABLE rm_v1.rm_things (owner_id uuid NOT NULL, number bigint NOT NULL);
    INSERT INTO rm_v1.rm_things (owner_id, number)
        SELECT ('00000000-0000-0000-0000-00000000000' || owner)::uuid, number
        FROM (VALUES ('a'), ('b')) AS owners (owner), generate_series(0, 999) AS number;
    GRANT SELECT ON rm_v1.rm_things TO stash_api;
    ALTER TABLE rm_v1.rm_things ENABLE ROW LEVEL SECURITY;
    CREATE POLICY owner ON rm_v1.rm_things FOR SELECT TO stash_api
        USING (owner_id = nullif(current_setting('stash.owner_id', true), '')::uuid);
    CREATE VIEW rm.rm_things WITH (security_invoker = true) AS SELECT * FROM rm_v1.rm_things;
";

const A: OwnerId = OwnerId(Uuid::from_u128(0xA));
const B: OwnerId = OwnerId(Uuid::from_u128(0xB));
const NOBODY: OwnerId = OwnerId(Uuid::from_u128(0xC));

/// This number fails the transaction that looks for it.
const POISON: i64 = -1;

struct Things;

/// Whose thing was found, and in which group.
type Found = (Uuid, usize);

impl Lookup for Things {
    type Key = i64;
    type Found = Found;

    async fn find(connection: &mut PgConnection, _: OwnerId, keys: &[i64]) -> Result<Vec<(i64, Found)>, sqlx::Error> {
        assert!(keys.len() <= KEYS_MAX);
        if keys.contains(&POISON) {
            sqlx::query("SELECT 1 / 0").execute(&mut *connection).await?;
        }
        // Without a word of the owner: row-level security alone keeps owners apart here.
        let rows: Vec<(i64, Uuid)> = sqlx::query_as("SELECT number, owner_id FROM rm_things WHERE number = ANY ($1)")
            .bind(keys)
            .fetch_all(connection)
            .await?;
        Ok(rows.into_iter().map(|(number, owner)| (number, (owner, keys.len()))).collect())
    }
}

async fn things() -> Grouped<Things> {
    let database = stash_infra::testing::postgres().database().await;
    let pools: Pools = postgres::open(&database.connect_options(), PoolSizes { api: 4, system: 4 }).await.unwrap();
    pools.system.execute(THINGS).await.unwrap();
    Grouped::new(pools.api.clone())
}

#[tokio::test]
async fn each_request_is_answered_with_its_own_and_its_owners_thing() {
    let things = things().await;
    let asks = (0..1500_i64).flat_map(|number| [(A, number), (B, number), (NOBODY, number)]);
    let answers = join_all(asks.map(|(owner, number)| {
        let things = things.clone();
        async move { (owner, number, things.find(owner, number).await.unwrap()) }
    }))
    .await;
    assert_eq!(answers.len(), 4500);
    let mut largest = 0;
    for (owner, number, found) in answers {
        assert_eq!(found.map(|(of, _)| of), (owner != NOBODY && number < 1000).then_some(owner.0), "{number}");
        largest = largest.max(found.map_or(0, |(_, group)| group));
    }
    assert!(largest > 1, "what is asked for at the same time is read together");
}

#[tokio::test]
async fn a_key_that_fails_fails_its_own_request_only() {
    let things = things().await;
    let answers = join_all([5, POISON, 6, 7].map(|number| things.find(A, number))).await;
    let found: Vec<Option<Option<Uuid>>> =
        answers.into_iter().map(|answer| answer.ok().map(|found| found.map(|(owner, _)| owner))).collect();
    assert_eq!(found, [Some(Some(A.0)), None, Some(Some(A.0)), Some(Some(A.0))]);
}

#[tokio::test]
async fn the_same_key_may_be_asked_for_many_times_and_again_later() {
    let things = things().await;
    for _ in 0..3 {
        let answers = join_all((0..50).map(|_| things.find(B, 3))).await;
        assert!(answers.into_iter().all(|answer| answer.unwrap().is_some_and(|(owner, _)| owner == B.0)));
    }
}

#[tokio::test]
async fn requests_that_go_away_leave_the_others_alone() {
    let things = things().await;
    let gone = things.find(A, 1);
    let stays = things.find(A, 2);
    let stays = {
        let mut gone = Box::pin(gone);
        // Asked for, and dropped before the answer.
        assert!(futures::poll!(&mut gone).is_pending());
        stays
    };
    assert!(stays.await.unwrap().is_some());
}
