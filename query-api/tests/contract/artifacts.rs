//! `GET /artifacts/{kind}/{owner}/{name}`

use crate::reward_models::store_checkpoint;
use crate::support::{World, fresh_owner};

async fn link(world: &World) -> String {
    let id = world.model(world.owner, "Refunds", "succeeded", &[]).await;
    store_checkpoint(world, id).await;
    let answer = world.get(&format!("/reward-models/{id}/weights")).await.ok().json();
    answer["url"].as_str().unwrap().strip_prefix("http://localhost:8080").unwrap().to_owned()
}

#[tokio::test]
async fn the_file_comes_as_a_download_with_its_length() {
    let world = World::new().await;
    let url = link(&world).await;
    let file = world.get_root(&url).await.ok();
    assert_eq!(file.body, b"weights");
    assert_eq!(file.headers["content-type"], "application/gzip");
    assert_eq!(file.headers["content-length"], "7");
    assert_eq!(file.headers["cache-control"], "private, no-store");
    let disposition = file.headers["content-disposition"].to_str().unwrap();
    assert!(disposition.starts_with("attachment; filename=\"") && disposition.ends_with(".tar.gz\""), "{disposition}");
}

#[tokio::test]
async fn a_link_that_was_changed_or_is_incomplete_opens_nothing() {
    let world = World::new().await;
    let url = link(&world).await;
    let (path, query) = url.split_once('?').unwrap();
    let (expires, signature) = query.split_once("&signature=").unwrap();
    let other = if signature.starts_with('0') { "1" } else { "0" };
    for bad in [
        path.to_owned(),
        format!("{path}?{expires}"),
        format!("{path}?{expires}&signature="),
        format!("{path}?{expires}&signature={other}{}", &signature[1..]),
        format!("{path}?expires=99999999999&signature={signature}"),
        format!("{path}?expires=never&signature={signature}"),
        url.replace(&world.owner.to_string(), &fresh_owner().to_string()),
        url.replace("reward-models", "reward_models"),
        url.replace(&world.owner.to_string(), ".."),
    ] {
        world.get_root(&bad).await.problem(403, "bad_link");
    }
}

#[tokio::test]
async fn a_link_to_what_is_gone_is_404() {
    let world = World::new().await;
    let id = world.model(world.owner, "Refunds", "succeeded", &[]).await;
    let answer = world.get(&format!("/reward-models/{id}/weights")).await.ok().json();
    let url = answer["url"].as_str().unwrap().strip_prefix("http://localhost:8080").unwrap().to_owned();
    world.get_root(&url).await.problem(404, "not_found");
}
