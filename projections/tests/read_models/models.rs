//! Models that are renamed and deleted, and the runs of their scoring.

use crate::build::{TraceOf, dropped, id, record, trace};
use crate::world::{World, owner};
use stash_domain::events::{Event, ScoresRecorded, ScoringRequested};
use stash_domain::ids::{ImportId, RewardModelId, content_subject};
use stash_domain::record::{Expected, StreamId};

/// Rows that a model has made, in all tables of such.
const MADE: &str = "SELECT (SELECT count(*) FROM rm_reward_models) + (SELECT count(*) FROM rm_reward_model_traces)
    + (SELECT count(*) FROM rm_training_pairs) + (SELECT count(*) FROM rm_trace_scores)
    + (SELECT count(*) FROM rm_action_scores) + (SELECT count(*) FROM rm_learning_reports)
    + (SELECT count(*) FROM rm_findings) + (SELECT count(*) FROM rm_scoring_runs)";

#[tokio::test(flavor = "multi_thread")]
async fn a_run_says_what_it_computed_in() {
    let world = World::new().await;
    let a = owner(0);
    let (run_id, traced, reward_model_id) = (id("run", a, 1), trace(a, 1), id("model", a, 1));
    let run = ScoringRequested { run_id, job_id: id("job", a, 1), trace_id: traced, reward_model_id };
    world.append(&record(a, 1, Expected::Any, vec![(StreamId::ScoringRun(run_id), run.into())])).await;
    let (_, Event::ScoresRecorded(scored)) = world.scores(a, 1, 0.5, &[]).await else { panic!("scores") };
    let scored = ScoresRecorded { run_id: Some(run_id), precision: Some("bf16".to_owned()), ..scored };
    world.append(&record(a, 2, Expected::Any, vec![(StreamId::ScoringRun(run_id), scored.into())])).await;
    world.project(&world.log).await;
    assert_eq!(world.count("SELECT count(*) FROM rm_scoring_runs WHERE precision = 'bf16'").await, 1);
    let live = world.digests().await;
    assert_eq!(world.rebuild(&world.log).await.unwrap().digests, live);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_model_takes_what_it_made_and_nothing_said_of_it_later_comes_back() {
    let world = World::new().await;
    let a = owner(0);
    let import: ImportId = id("import", a, 1);
    let traced = trace(a, 1);
    let subject = content_subject(import, traced);
    let event = world.import(a, import, &[TraceOf { number: 1, steps: 4, said: "x" }]).await;
    world.append(&record(a, 1, Expected::Any, vec![event])).await;
    let made = |number: u64| {
        let run_id = id("run", a, number);
        let reward_model_id = id("model", a, 1);
        let run = ScoringRequested { run_id, job_id: id("job", a, 9), trace_id: traced, reward_model_id };
        (StreamId::ScoringRun(run_id), run.into())
    };
    let said = async |attempt: i32| {
        vec![
            world.findings(a, 1, attempt, &[(traced, subject)]).await,
            world.answered(a, 1, (traced, subject), 1, "good").await,
            world.trained(a, 1, &[[(traced, subject), (traced, subject)]]).await,
            world.scores(a, 1, 0.5, &[(traced, subject)]).await,
            made(u64::from(attempt.unsigned_abs())),
        ]
    };
    world.append(&record(a, 2, Expected::Any, vec![world.model(a, 1, &[1]).await])).await;
    world.append(&record(a, 3, Expected::Any, said(1).await)).await;
    world.append(&record(a, 4, Expected::Any, vec![world.renamed(a, 1, "another name").await])).await;
    world.project(&world.log).await;
    let name: String = sqlx::query_scalar("SELECT name FROM rm_reward_models").fetch_one(world.system()).await.unwrap();
    assert_eq!(name, "another name");
    assert!(world.count(MADE).await >= 8);

    let late = world.renamed(a, 1, "too late").await;
    let again = world.model(a, 1, &[1]).await;
    world.append(&record(a, 5, Expected::Any, vec![dropped(a, 1)])).await;
    world.append(&record(a, 6, Expected::Any, said(2).await)).await;
    world.append(&record(a, 7, Expected::Any, vec![late, again])).await;
    world.project(&world.log).await;
    assert_eq!(world.count(MADE).await, 0);
    assert_eq!(world.count("SELECT count(*) FROM rm_judge_calls").await, 1, "what was asked of a trace stays with it");
    assert_eq!(world.count("SELECT count(*) FROM rm_deleted_reward_models WHERE base_model = 'base'").await, 1);
    let model: RewardModelId = id("model", a, 1);
    assert!(world.keys.get(a, &[model.into()]).await.unwrap().is_empty(), "the key of its names is shredded");
    let live = world.digests().await;
    assert_eq!(world.rebuild(&world.log).await.unwrap().digests, live);
}
