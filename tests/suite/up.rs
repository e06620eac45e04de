//! `stash up` on a fresh folder: what it serves, and how it ends.

use crate::support::{Client, Folder, Stash, command, eventually};
use nix::sys::signal::kill;
use nix::unistd::Pid;
use reqwest::StatusCode;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// The postmaster of a data folder.
fn postmaster(data: &Path) -> Pid {
    let text = std::fs::read_to_string(data.join("pg/postmaster.pid")).unwrap();
    Pid::from_raw(text.lines().next().unwrap().trim().parse().unwrap())
}

#[tokio::test]
async fn a_fresh_folder_is_served_and_left_in_order() {
    let folder = Folder::new();
    let stash = Stash::up(&folder.data()).await;
    let nobody = Client::new(stash.url(), None);

    assert_eq!(nobody.get("/healthz").await.ok()["status"], "ok");
    let ready = nobody.get("/readyz").await.ok();
    let checks: Vec<&str> =
        ready["checks"].as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap()).collect();
    assert_eq!(checks, ["postgres", "log", "lag"]);
    assert!(nobody.get("/metrics").await.text.contains("stash_http_requests_total"));
    assert!(nobody.get("/").await.text.starts_with("Stash"));
    assert!(nobody.get("/docs/errors/not_found").await.text.contains("not_found"));
    assert_eq!(nobody.get("/docs/errors/no_such").await.status, StatusCode::NOT_FOUND);
    let missing = nobody.get("/no/such").await;
    assert_eq!(
        (missing.status, missing.body["type"].as_str()),
        (StatusCode::NOT_FOUND, Some("/docs/errors/not_found"))
    );
    assert_eq!(nobody.get("traces").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(stash.operator().get("traces").await.ok()["total"], 0);

    let postgres = postmaster(&folder.data());
    assert!(kill(postgres, None).is_ok());
    assert_eq!(stash.terminate().code(), Some(0));
    eventually("the end of Postgres", async || kill(postgres, None).is_err().then_some(())).await;
    assert!(!folder.data().join("pg/postmaster.pid").exists(), "Postgres was not shut down in order");
}

#[tokio::test]
async fn the_operators_key_is_for_its_owner_only() {
    let folder = Folder::new();
    let _stash = Stash::up(&folder.data()).await;
    for file in ["connection.json", "master.keys"] {
        let mode = std::fs::metadata(folder.data().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[tokio::test]
async fn a_second_one_on_the_same_folder_is_refused_and_told_who_has_it() {
    let folder = Folder::new();
    let stash = Stash::up(&folder.data()).await;
    let second = command(&folder.data(), &["up", "--listen", "127.0.0.1:0"]).output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    let said = String::from_utf8(second.stderr).unwrap();
    assert!(said.contains("in use") && said.contains(&stash.pid().to_string()), "{said}");
    assert_eq!(stash.operator().get("traces").await.ok()["total"], 0);
}

#[tokio::test]
async fn a_port_in_use_is_told() {
    let folder = Folder::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let up = command(&folder.data(), &["up", "--listen", &address]).output().unwrap();
    assert_eq!(up.status.code(), Some(1));
    let said = String::from_utf8(up.stderr).unwrap();
    assert!(said.contains("--listen"), "{said}");
}
