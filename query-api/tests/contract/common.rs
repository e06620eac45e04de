//! What all read routes share: the switch of the account, positions, strict parameters, unreadable ids.

use crate::support::{World, caller};
use stash_domain::position::{Offset, Partition, Position, PositionToken};
use stash_infra::event_log::EventLog as _;
use uuid::Uuid;

/// Every route, with ids of nothing.
pub(crate) fn routes() -> Vec<String> {
    let id = Uuid::nil();
    [
        "/formats",
        "/traces",
        "/traces/{}",
        "/otel/pending",
        "/annotations/{}",
        "/export/traces",
        "/export/annotations",
        "/export/pairs",
        "/export/pairs?reward_model_id={}",
        "/reward-models",
        "/reward-models/{}",
        "/reward-models/{}/weights",
        "/scoring-runs/{}",
        "/commands/{}",
        "/llm-processing",
    ]
    .iter()
    .map(|route| route.replace("{}", &id.to_string()))
    .collect()
}

#[tokio::test]
async fn an_account_without_reward_models_is_refused_everywhere() {
    let world = World::new().await;
    let mut off = caller(world.owner);
    off.reward_models_enabled = false;
    for route in routes() {
        world.send(off.clone(), &route, &[]).await.problem(403, "reward_models_disabled");
    }
}

#[tokio::test]
async fn things_that_do_not_exist_are_404_and_lists_are_empty() {
    let world = World::new().await;
    for route in routes() {
        let answer = world.get(&route).await;
        if route.contains(&Uuid::nil().to_string()) {
            answer.problem(404, "not_found");
        } else {
            assert_eq!(answer.status, 200, "{route}");
        }
    }
}

#[tokio::test]
async fn a_read_waits_for_its_position_or_says_when_to_try_again() {
    let world = World::new().await;
    let position = Position { partition: Partition(3), offset: Offset(7) };
    let token = PositionToken::new(world.log.id(), position).to_string();
    for route in routes() {
        let header = [("x-stash-min-position", token.as_str())];
        let answer = world.send(caller(world.owner), &route, &header).await;
        answer.problem(503, "unavailable");
        assert_eq!(answer.headers["retry-after"], "1");
    }
    world.applied(8);
    let answer = world.send(caller(world.owner), "/traces", &[("x-stash-min-position", &token)]).await;
    assert_eq!(answer.status, 200);
    let answer = world.send(caller(world.owner), "/traces", &[("x-stash-min-position", "soon")]).await;
    answer.problem(400, "invalid_request");
}

#[tokio::test]
async fn a_route_outside_of_the_layer_that_finds_the_caller_answers_nothing() {
    let world = World::new().await;
    for route in routes() {
        world.get_root(&format!("/api/v1/rm{route}")).await.problem(500, "internal");
    }
}

#[tokio::test]
async fn unknown_parameters_are_named() {
    let world = World::new().await;
    for route in ["/traces", "/reward-models", "/export/traces", "/export/annotations", "/export/pairs"] {
        let detail = world.get(&format!("{route}?colour=red")).await.problem(422, "invalid_field");
        assert!(detail.contains("colour"), "{detail}");
    }
}

#[tokio::test]
async fn unreadable_ids_are_400() {
    let world = World::new().await;
    for route in [
        "/traces/1",
        "/annotations/1",
        "/reward-models/1",
        "/reward-models/1/weights",
        "/scoring-runs/1",
        "/commands/1",
    ] {
        world.get(route).await.problem(400, "invalid_request");
    }
    world.get("/traces/external%3A%ff").await.problem(400, "invalid_request");
}
