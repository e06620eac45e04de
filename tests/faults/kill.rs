//! `kill -9` of every process at random moments: each acknowledged command has one verdict and one effect, and what a job made is
//! published once or not at all.

use crate::support::client::{Client, Seen};
use crate::support::load::{Load, Mix};
use crate::support::process::{Process, Role, kill_trainer, trainers};
use crate::support::site::{Log, Site};
use crate::support::trainings::Trainings;
use crate::support::{LOOK, check, ledger::Ledger, number, random, seed, turn};
use rand::RngExt as _;
use rand::rngs::StdRng;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Kills of each process where the environment says nothing.
const KILLS: u64 = 50;

/// How long a trainer may be waited for.
const TRAINER_MAX: Duration = Duration::from_secs(120);

/// Kills in a hundred that meet a process while it starts.
const WHILE_STARTING: f64 = 0.2;

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_random_with_the_log_in_postgres() {
    kill_everything(Log::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_random_with_the_log_in_kafka() {
    kill_everything(Log::Kafka).await;
}

async fn kill_everything(log: Log) {
    let _turn = turn().await;
    let seed = seed(&format!("kill -9, log in {log:?}"));
    let kills = number("STASH_FAULT_KILLS").unwrap_or(KILLS);
    let site = Arc::new(Site::start(log).await);
    let http = reqwest::Client::new();
    // The first start makes the tables; keys are made beside it.
    let mut roles = Vec::new();
    for role in Role::ALL {
        let mut process = Process::spawn(&site, role);
        process.ready(&http).await;
        roles.push(process);
    }
    let (account, teacher) = (site.account("load@example.org").await, site.account("teacher@example.org").await);
    let seen = Arc::new(Seen::default());
    let trainings = Trainings::prepare(&site, &teacher, &seen).await;
    let load = Load::start(&site, &account, &seen, seed, Mix { large_imports: 5 });
    let enough = CancellationToken::new();
    let trainings = tokio::spawn(trainings.run(enough.clone()));

    let begin = Instant::now();
    let killers = roles.into_iter().zip(Role::ALL).map(|(process, role)| {
        // A worker lives a little longer, so that trainers are killed beside a living one too.
        let life = if role == Role::Worker { 50..2500 } else { 50..400 };
        let killer = Killer { site: Arc::clone(&site), http: http.clone(), random: random(seed, role as u64), life };
        tokio::spawn(killer.run(role, process, kills))
    });
    let killers: Vec<_> = killers.collect();
    let mut trainer_random = random(seed, 99);
    kill_trainers(&site, &mut trainer_random, kills).await;
    let mut running = Vec::new();
    for killer in killers {
        running.push(killer.await.expect("a killer"));
    }
    println!("{} kills in {:?}; {}", kills * 4, begin.elapsed(), seen.summary());

    // Nothing dies any more: everything comes to its end.
    enough.cancel();
    let mut trainings = trainings.await.expect("the trainings");
    let last = trainings.ask().await;
    let models = trainings.ended().await;
    let ledger = load.stop().await;
    seen.assert_nothing_wrong();
    for process in &mut running {
        process.assert_alive();
    }
    assert!(ledger.told.len() > 200, "the load made only {} changes", ledger.told.len());
    assert_eq!(models[&last].status, "succeeded", "the training after all kills: {:?}", models[&last]);
    let records = check::everything(&site, &[(account.owner, &ledger)]).await;
    let endings = records.endings(&check::accepted(&site).await);
    assert!(endings.ended.values().all(|count| *count == 1), "a job ended twice: {:?}", endings.ended);
    let mut succeeded = 0;
    for (id, model) in &models {
        let published = endings.published.get(&(*id).into()).copied().unwrap_or(0);
        match model.status.as_str() {
            "succeeded" => {
                assert_eq!(published, 1, "publications of model {id}");
                assert!(!model.metrics.is_null(), "model {id} has no metrics");
                succeeded += 1;
            }
            _ => {
                assert_eq!(published, 0, "publications of model {id}, which is {}", model.status);
                assert!(
                    model.error.as_ref().is_some_and(|error| !error.is_empty()),
                    "model {id} says not why it failed"
                );
            }
        }
    }
    println!("{succeeded} of {} trainings succeeded, the others were killed too often", models.len());
    api_agrees(&site, &account, &ledger).await;
    assert_eq!(trainers(&site), Vec::<i32>::new(), "trainers without a job");
}

/// The API shows what the tables hold, for a few.
async fn api_agrees(site: &Site, account: &crate::support::site::Account, ledger: &Ledger) {
    let mut client = Client::new(site.url(), account.clone(), Arc::new(Seen::default()));
    for (id, trace) in ledger.traces.iter().take(10) {
        let (status, shown) = client.read(&format!("/traces/{id}")).await;
        assert_eq!((status.as_u16(), shown["title"].as_str()), (200, Some(trace.title.as_str())));
    }
    for (id, (told, _)) in ledger.told.iter().take(10) {
        let (status, shown) = client.read(&format!("/commands/{id}")).await;
        let accepted = *told == crate::support::ledger::Told::Accepted;
        assert_eq!(shown["state"] == "accepted", accepted, "{status} {shown}");
    }
}

/// Kills one role, again and again.
pub(crate) struct Killer {
    /// Whose process it is.
    pub(crate) site: Arc<Site>,
    /// To ask whether it is ready.
    pub(crate) http: reqwest::Client,
    /// Draws the moments.
    pub(crate) random: StdRng,
    /// Milliseconds that it may live once it is ready.
    pub(crate) life: Range<u64>,
}

impl Killer {
    /// Kills and starts it so many times; the last one lives.
    pub(crate) async fn run(mut self, role: Role, mut process: Process, kills: u64) -> Process {
        for _ in 0..kills {
            if !self.random.random_bool(WHILE_STARTING) {
                process.ready(&self.http).await;
            }
            // Part of the fault's schedule: when it strikes.
            tokio::time::sleep(Duration::from_millis(self.random.random_range(self.life.clone()))).await;
            process.kill();
            process = Process::spawn(&self.site, role);
        }
        process.ready(&self.http).await;
        process
    }
}

/// Kills trainers, each once.
async fn kill_trainers(site: &Site, random: &mut StdRng, kills: u64) {
    let mut met = BTreeSet::new();
    let mut killed = 0;
    let mut waited = Instant::now();
    while killed < kills {
        let Some(trainer) = trainers(site).into_iter().find(|pid| !met.contains(pid)) else {
            assert!(waited.elapsed() < TRAINER_MAX, "no trainer was started within {TRAINER_MAX:?}");
            tokio::time::sleep(LOOK).await;
            continue;
        };
        met.insert(trainer);
        // Part of the fault's schedule, as above. One that has ended by then does not count.
        tokio::time::sleep(Duration::from_millis(random.random_range(0..400))).await;
        if kill_trainer(site, trainer) {
            killed += 1;
        }
        waited = Instant::now();
    }
}
