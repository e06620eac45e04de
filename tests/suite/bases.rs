//! `stash models add`: a base from a hub that breaks off, lies and asks for a token; from a folder; from a file.

use super::support::{Folder, command, run, run_json};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use serde_json::{Value, json};
use std::path::Path as FilePath;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const TOKEN: &str = "hub-token";

/// A hub with one private repository, `org/small`, and the host that it redirects to for weights.
struct Hub {
    files: tempfile::TempDir,
    /// Answers for weights that still break off in the middle.
    breaks: AtomicUsize,
    /// Whether the weights are others than the listing says.
    lies: bool,
    storage: std::sync::OnceLock<String>,
}

impl Hub {
    fn file(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.files.path().join(name)).ok()
    }
}

/// Starts one; returns its address.
async fn hub(breaks: usize, lies: bool) -> String {
    let files = tempfile::tempdir().unwrap();
    stash_model::tiny_base::make(files.path(), 5).unwrap();
    std::fs::write(files.path().join("pytorch_model.bin"), "another format").unwrap();
    let hub = Arc::new(Hub { files, breaks: AtomicUsize::new(breaks), lies, storage: std::sync::OnceLock::new() });
    let storage = Router::new().route("/{name}", get(weights)).with_state(Arc::clone(&hub));
    hub.storage.set(serve(storage).await).unwrap();
    let routes = Router::new()
        .route("/api/models/org/small/revision/{revision}", get(listing))
        .route("/org/small/resolve/{commit}/{name}", get(resolve))
        .with_state(hub);
    serve(routes).await
}

async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

fn is_allowed(headers: &HeaderMap) -> bool {
    headers.get(header::AUTHORIZATION).is_some_and(|value| value == format!("Bearer {TOKEN}").as_str())
}

async fn listing(State(hub): State<Arc<Hub>>, Path(revision): Path<String>, headers: HeaderMap) -> Response {
    if !is_allowed(&headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    if !["main", "v1"].contains(&revision.as_str()) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let mut siblings = Vec::new();
    for entry in std::fs::read_dir(hub.files.path()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let content = hub.file(&name).unwrap();
        let mut sibling = json!({"rfilename": name, "size": content.len()});
        if name.ends_with(".safetensors") {
            let sha256 = stash_domain::ids::Digest::of(&content).to_string();
            sibling["lfs"] = json!({"sha256": sha256, "size": content.len()});
        }
        siblings.push(sibling);
    }
    axum::Json(json!({"sha": COMMIT, "siblings": siblings})).into_response()
}

async fn resolve(
    State(hub): State<Arc<Hub>>,
    Path((commit, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    assert_eq!(commit, COMMIT);
    if !is_allowed(&headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    if name.ends_with(".safetensors") {
        return Redirect::temporary(&format!("{}/{name}", hub.storage.get().unwrap())).into_response();
    }
    hub.file(&name).map_or(StatusCode::NOT_FOUND.into_response(), |content| content.into_response())
}

/// The other host: it must not learn the token.
async fn weights(State(hub): State<Arc<Hub>>, Path(name): Path<String>, headers: HeaderMap) -> Response {
    if headers.contains_key(header::AUTHORIZATION) {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let mut content = hub.file(&name).unwrap();
    if hub.lies {
        content[4000] ^= 1;
    }
    let range = headers.get(header::RANGE).map(|range| range.to_str().unwrap().to_owned());
    let from = range.as_ref().map_or(0, |range| range["bytes=".len()..].trim_end_matches('-').parse().unwrap());
    let rest = content.split_off(from);
    let status = if range.is_some() { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
    let take = |left: usize| left.checked_sub(1);
    let body = if hub.breaks.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok() {
        let half = Bytes::copy_from_slice(&rest[..rest.len() / 2]);
        Body::from_stream(futures::stream::iter([Ok(half), Err(std::io::Error::other("cut"))]))
    } else {
        Body::from(rest.clone())
    };
    (status, [(header::CONTENT_LENGTH, rest.len())], body).into_response()
}

/// Runs `stash models add` against a hub.
async fn add(data: &FilePath, hub: &str, token: Option<&str>, arguments: &[&str]) -> Output {
    let mut add = command(data, &[&["models", "add"], arguments].concat());
    add.env("HF_ENDPOINT", hub).env_remove("HF_TOKEN");
    if let Some(token) = token {
        add.env("HF_TOKEN", token);
    }
    tokio::task::spawn_blocking(move || add.output().unwrap()).await.unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[tokio::test]
async fn a_base_comes_from_the_hub_though_the_connection_breaks() {
    let (folder, hub) = (Folder::new(), hub(3, false).await);
    let data = folder.data();
    let added = add(&data, &hub, Some(TOKEN), &["org/small", "--json"]).await;
    assert!(added.status.success(), "{}", said(&added));
    let told: Value = serde_json::from_slice(&added.stdout).unwrap();
    assert_eq!((told["family"].as_str(), told["from"]["commit"].as_str()), (Some("qwen3"), Some(COMMIT)));
    let base = data.join("bases/org/small");
    assert!(base.join("model.safetensors").is_file() && !base.join("pytorch_model.bin").exists());
    assert!(std::fs::read_dir(&base).unwrap().all(|entry| !said_name(&entry.unwrap()).ends_with(".part")));
    assert_eq!(run_json(&data, &["models", "list", "--bases"]), json!(["org/small"]));

    let again = add(&data, &hub, Some(TOKEN), &["org/small"]).await;
    assert!(!again.status.success() && said(&again).contains("--replace"), "{}", said(&again));
    let tagged = add(&data, &hub, Some(TOKEN), &["mine", "--hub", "org/small@v1"]).await;
    assert!(tagged.status.success(), "{}", said(&tagged));
}

fn said_name(entry: &std::fs::DirEntry) -> String {
    entry.file_name().to_string_lossy().into_owned()
}

#[tokio::test]
async fn what_the_hub_refuses_or_gets_wrong_is_told_and_leaves_no_base() {
    let (folder, lying) = (Folder::new(), hub(0, true).await);
    let data = folder.data();
    for (token, name, words) in [
        (None, "org/small", "HF_TOKEN"),
        (Some("wrong-token"), "org/small", "HF_TOKEN"),
        (Some(TOKEN), "org/other", "is not there"),
        (Some(TOKEN), "org/small@v9", "is not there"),
        (Some(TOKEN), "org/small", "SHA-256"),
    ] {
        let refused = add(&data, &lying, token, &["base", "--hub", name]).await;
        assert!(!refused.status.success() && said(&refused).contains(words), "{name}: {}", said(&refused));
        assert!(!said(&refused).contains(TOKEN), "{}", said(&refused));
    }
    assert_eq!(run_json(&data, &["models", "list", "--bases"]), json!([]));
}

#[test]
fn a_base_comes_from_a_folder_and_what_is_none_is_refused() {
    let folder = Folder::new();
    let data = folder.data();
    let small = folder.path().join("small");
    stash_model::tiny_base::make(&small, 9).unwrap();
    run(&data, &["models", "add", "me/small", "--folder", small.to_str().unwrap()]);
    assert_eq!(run_json(&data, &["models", "list", "--bases"]), json!(["me/small"]));

    std::fs::remove_file(small.join("tokenizer.json")).unwrap();
    std::fs::write(folder.path().join("x.gguf"), "GGUF, but not really").unwrap();
    let file = folder.path().join("x.gguf");
    for (from, path, words) in [
        ("--folder", &small, "tokenizer.json"),
        ("--folder", &folder.path().join("nowhere"), "nowhere"),
        ("--gguf", &file, "x.gguf"),
    ] {
        let refused = command(&data, &["models", "add", "other", from, path.to_str().unwrap()]).output().unwrap();
        assert!(!refused.status.success() && said(&refused).contains(words), "{words}: {}", said(&refused));
    }
    assert_eq!(run_json(&data, &["models", "list", "--bases"]), json!(["me/small"]));
}
