//! Accounts and keys on a real server.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use sqlx::{Executor as _, PgPool};
use stash_domain::events::Event;
use stash_domain::ids::{ApiKeyId, OwnerId};
use stash_domain::time::Timestamp;
use stash_infra::clock::{Clock as _, ManualClock};
use stash_infra::identity::{Change, Identity, IdentityError, KeyText, NewAccount, NewKey, Role, Scope};
use stash_infra::postgres::{self, PoolSizes};
use std::sync::Arc;
use uuid::Uuid;

const HOUR_US: i64 = 3_600_000_000;

struct Setup {
    pool: PgPool,
    clock: Arc<ManualClock>,
    identity: Identity,
}

impl Setup {
    async fn new() -> Self {
        let database = stash_infra::testing::postgres().database().await;
        let pools = postgres::open(&database.connect_options(), PoolSizes { api: 2, system: 6 }).await.unwrap();
        let clock = Arc::new(ManualClock::at(Timestamp(1_700_000_000_000_000)));
        let identity = Identity::new(pools.system.clone(), clock.clone());
        Self { pool: pools.system, clock, identity }
    }

    /// The same tables, seen by another process: nothing is cached.
    fn elsewhere(&self) -> Identity {
        Identity::new(self.pool.clone(), self.clock.clone())
    }

    async fn account(&self, email: &str) -> OwnerId {
        let new = NewAccount { email: email.into(), name: "Ada".into(), role: Role::User };
        self.identity.create_account_if_new(&new).await.unwrap().0.id
    }

    async fn key(
        &self,
        account_id: OwnerId,
        scope: Scope,
        expires_at: Option<Timestamp>,
    ) -> (KeyText, ApiKeyId, Change) {
        let new = NewKey { account_id, scope, name: "laptop".into(), expires_at };
        let (text, key, change) = self.identity.create_key(&new).await.unwrap();
        (text, key.id, change)
    }
}

#[tokio::test]
async fn an_address_has_one_account_however_it_is_written() {
    let setup = Setup::new().await;
    let new = |email: &str, role| NewAccount { email: email.into(), name: String::new(), role };
    let (first, change) = setup.identity.create_account_if_new(&new("Ada@Example.org", Role::Operator)).await.unwrap();
    assert!(first.reward_models_enabled && first.role == Role::Operator && first.email == "ada@example.org");
    let change = change.unwrap();
    assert!(
        matches!(&change.event, Event::AccountCreated(event) if event.account_id == first.id && event.role == "operator")
    );
    assert_eq!(change.owner, first.id);
    // The second is the first as it is: no new role, no event.
    let (second, change) = setup.identity.create_account_if_new(&new("ada@example.ORG", Role::User)).await.unwrap();
    assert_eq!((second, change), (first.clone(), None));
    assert_eq!(setup.identity.accounts().await.unwrap(), [first]);
    let refused = setup.identity.create_account_if_new(&new("nobody", Role::User)).await;
    assert!(matches!(refused, Err(IdentityError::BadEmail(_))));
}

#[tokio::test]
async fn many_makers_of_one_account_make_one() {
    let setup = Setup::new().await;
    let new = NewAccount { email: "ada@example.org".into(), name: String::new(), role: Role::User };
    let made = futures::future::join_all((0..8).map(|_| setup.identity.create_account_if_new(&new))).await;
    let made: Vec<_> = made.into_iter().map(Result::unwrap).collect();
    assert!(made.iter().all(|(account, _)| account.id == made[0].0.id));
    assert_eq!(made.iter().filter(|(_, change)| change.is_some()).count(), 1);
}

#[tokio::test]
async fn a_key_says_who_calls_and_stands_nowhere_in_the_database() {
    let setup = Setup::new().await;
    let account = setup.account("ada@example.org").await;
    let (text, id, change) = setup.key(account, Scope::ReadOnly, None).await;
    assert!(
        matches!(&change.event, Event::ApiKeyCreated(event) if event.api_key_id == id && event.scope == "read-only")
    );

    let caller = setup.identity.authenticate(text.expose()).await.unwrap().expect("a new key works");
    assert_eq!((caller.owner_id, caller.api_key_id, caller.scope), (account, id, Scope::ReadOnly));
    assert_eq!((caller.role, caller.reward_models_enabled, caller.name.as_str()), (Role::User, true, "Ada"));

    let secret = &text.expose()[28..];
    let rows: Vec<String> = sqlx::query_scalar(
        "SELECT k::text FROM api_key k UNION ALL SELECT c::text FROM identity_change c UNION ALL SELECT a::text FROM account a",
    )
    .fetch_all(&setup.pool)
    .await
    .unwrap();
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| !row.contains(secret)));
    let changes: Vec<String> =
        sqlx::query_scalar("SELECT c::text FROM identity_change c").fetch_all(&setup.pool).await.unwrap();
    assert!(changes.iter().all(|row| !row.contains("ada@example.org") && !row.contains("laptop")));
}

#[tokio::test]
async fn what_is_not_exactly_a_key_is_nobodys() {
    let setup = Setup::new().await;
    let account = setup.account("ada@example.org").await;
    let (text, ..) = setup.key(account, Scope::Full, None).await;
    let (other, ..) = setup.key(account, Scope::Full, None).await;
    let mixed = format!("{}{}", &text.expose()[..28], &other.expose()[28..]);
    let cut = &text.expose()[..71];
    let long = format!("{}0", text.expose());
    for wrong in ["", "stash_", cut, &long, &mixed, &text.expose().to_uppercase(), "stash_\u{0}", &"é".repeat(36)] {
        assert_eq!(setup.identity.authenticate(wrong).await.unwrap(), None, "{wrong}");
    }
    assert!(setup.identity.authenticate(text.expose()).await.unwrap().is_some());
}

#[tokio::test]
async fn a_revoked_key_works_no_more_and_revoking_it_again_is_no_change() {
    let setup = Setup::new().await;
    let (account, other) = (setup.account("ada@example.org").await, setup.account("bob@example.org").await);
    let (text, id, _) = setup.key(account, Scope::Full, None).await;
    assert!(setup.identity.authenticate(text.expose()).await.unwrap().is_some());
    assert_eq!(setup.identity.revoke_key(other, id).await.unwrap(), None, "nobody revokes another's key");
    assert!(setup.identity.authenticate(text.expose()).await.unwrap().is_some());

    let change = setup.identity.revoke_key(account, id).await.unwrap().unwrap();
    assert!(matches!(&change.event, Event::ApiKeyRevoked(event) if event.api_key_id == id));
    assert_eq!(setup.identity.authenticate(text.expose()).await.unwrap(), None);
    assert_eq!(setup.elsewhere().authenticate(text.expose()).await.unwrap(), None);
    assert_eq!(setup.identity.revoke_key(account, id).await.unwrap(), None);
    let listed = setup.identity.keys(account).await.unwrap();
    assert!(listed[0].revoked_at.is_some());
}

#[tokio::test]
async fn a_key_ends_at_its_time_also_while_it_is_cached() {
    let setup = Setup::new().await;
    let account = setup.account("ada@example.org").await;
    let expires = Timestamp(setup.clock.now().0 + HOUR_US);
    let (text, ..) = setup.key(account, Scope::Full, Some(expires)).await;
    assert!(setup.identity.authenticate(text.expose()).await.unwrap().is_some());
    setup.clock.advance(HOUR_US);
    assert_eq!(setup.identity.authenticate(text.expose()).await.unwrap(), None);
    assert_eq!(setup.elsewhere().authenticate(text.expose()).await.unwrap(), None);
    let past = NewKey { account_id: account, scope: Scope::Full, name: String::new(), expires_at: Some(expires) };
    assert!(matches!(setup.identity.create_key(&past).await, Err(IdentityError::AlreadyExpired)));
}

#[tokio::test]
async fn reward_models_are_switched_for_one_account_and_felt_by_its_keys() {
    let setup = Setup::new().await;
    let (account, other) = (setup.account("ada@example.org").await, setup.account("bob@example.org").await);
    let (text, ..) = setup.key(account, Scope::Full, None).await;
    let (text_of_other, ..) = setup.key(other, Scope::Full, None).await;
    let enabled =
        async |text: &KeyText| setup.identity.authenticate(text.expose()).await.unwrap().unwrap().reward_models_enabled;
    assert!(enabled(&text).await);
    let change = setup.identity.set_reward_models_enabled(account, false).await.unwrap().unwrap();
    assert!(matches!(&change.event, Event::RewardModelsSwitched(event) if !event.enabled));
    assert!(!enabled(&text).await);
    assert!(enabled(&text_of_other).await);
    assert_eq!(setup.identity.set_reward_models_enabled(account, false).await.unwrap(), None);
    let nobody = OwnerId(Uuid::from_u128(1));
    assert!(matches!(setup.identity.set_reward_models_enabled(nobody, false).await, Err(IdentityError::NoAccount)));
}

#[tokio::test]
async fn changes_wait_until_they_are_settled_in_their_order_under_a_fixed_command() {
    let setup = Setup::new().await;
    let account = setup.account("ada@example.org").await;
    let (_, key, _) = setup.key(account, Scope::Full, None).await;
    setup.identity.set_reward_models_enabled(account, false).await.unwrap();
    setup.identity.revoke_key(account, key).await.unwrap();

    let waiting = setup.elsewhere().unsettled(100).await.unwrap();
    let names: Vec<&str> = waiting.iter().map(|change| change.event.name()).collect();
    assert_eq!(names, ["account_created", "api_key_created", "reward_models_switched", "api_key_revoked"]);
    assert_eq!(waiting, setup.identity.unsettled(100).await.unwrap());
    assert_eq!(waiting[0].command_id(), setup.identity.unsettled(1).await.unwrap()[0].command_id());
    for change in &waiting {
        setup.identity.settle(change.id).await.unwrap();
        setup.identity.settle(change.id).await.unwrap();
    }
    assert!(setup.identity.unsettled(100).await.unwrap().is_empty());
}

#[tokio::test]
async fn use_is_noted_to_the_hour() {
    let setup = Setup::new().await;
    let account = setup.account("ada@example.org").await;
    let (text, ..) = setup.key(account, Scope::Full, None).await;
    let last_used = async || setup.identity.keys(account).await.unwrap()[0].last_used_at;
    assert_eq!(last_used().await, None);
    // A wrong secret is no use.
    let wrong = format!("{}{}", &text.expose()[..28], "0".repeat(44));
    assert_eq!(setup.identity.authenticate(&wrong).await.unwrap(), None);
    let begin = setup.clock.now();
    setup.identity.authenticate(text.expose()).await.unwrap().unwrap();
    // It is noted beside the request.
    while last_used().await != Some(begin) {
        tokio::task::yield_now().await;
    }
    setup.clock.advance(HOUR_US / 2);
    setup.elsewhere().authenticate(text.expose()).await.unwrap().unwrap();
    setup.clock.advance(HOUR_US / 2);
    let later = setup.clock.now();
    setup.elsewhere().authenticate(text.expose()).await.unwrap().unwrap();
    while last_used().await == Some(begin) {
        tokio::task::yield_now().await;
    }
    assert_eq!(last_used().await, Some(later));
}

#[tokio::test]
async fn an_account_has_a_bounded_number_of_keys() {
    let setup = Setup::new().await;
    let account = setup.account("ada@example.org").await;
    let fill = format!(
        "INSERT INTO api_key (id, account_id, scope, shown, hash)
         SELECT gen_random_uuid(), '{account}', 'full', 'stash_', sha256(n::text::bytea) FROM generate_series(1, 1000) n"
    );
    setup.pool.execute(sqlx::AssertSqlSafe(fill)).await.unwrap();
    let new = NewKey { account_id: account, scope: Scope::Full, name: String::new(), expires_at: None };
    assert!(matches!(setup.identity.create_key(&new).await, Err(IdentityError::TooManyKeys(1000))));
    setup.pool.execute("UPDATE api_key SET revoked_at = now() WHERE hash = sha256('1')").await.unwrap();
    setup.identity.create_key(&new).await.unwrap();
}
