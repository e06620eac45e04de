//! The port is free, or Stash itself answers on it.

use super::Finding;
use stash_infra::config::Settings;
use std::io::ErrorKind;
use std::time::Duration;
use tokio::net::TcpListener;

const CHECK: &str = "port";

/// How long an answer may take.
const ANSWER_MAX: Duration = Duration::from_secs(2);

/// Looks at the address of the settings.
pub(super) async fn check(settings: &Settings) -> Finding {
    let listen = settings.server.listen;
    match TcpListener::bind(listen).await {
        Ok(_) => Finding::ok(CHECK, format!("{listen} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            if answers(&format!("http://{listen}/healthz")).await {
                return Finding::ok(CHECK, format!("a Stash answers on {listen}"));
            }
            let cure = "stop that program, or choose another port with --listen or STASH_LISTEN";
            Finding::broken(CHECK, format!("{listen} is in use by another program"), cure)
        }
        Err(error) => Finding::broken(
            CHECK,
            format!("cannot listen on {listen}: {error}"),
            "choose another address with --listen",
        ),
    }
}

async fn answers(url: &str) -> bool {
    let Ok(client) = reqwest::Client::builder().no_proxy().timeout(ANSWER_MAX).build() else { return false };
    client.get(url).send().await.is_ok_and(|response| response.status().is_success())
}
