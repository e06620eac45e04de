//! A running Arize Phoenix, on a folder of its own and stopped with this program.

use crate::http::{Access, Connection};
use crate::peer;
use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;
use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long its start may take: it imports some hundred packages.
const READY_MAX: Duration = Duration::from_secs(180);

/// How long it may take until it shows what was sent.
const SHOWN_MAX: Duration = Duration::from_secs(600);

/// Pause between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// A running server.
pub(crate) struct Phoenix {
    child: Child,
    /// Its address; it asks for no key.
    pub(crate) access: Access,
    /// Its folder.
    pub(crate) folder: PathBuf,
}

#[derive(Deserialize)]
struct Answer {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    projects: Projects,
}

#[derive(Deserialize)]
struct Projects {
    edges: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    node: Project,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Project {
    record_count: u64,
}

impl Phoenix {
    /// Starts it and waits until it answers.
    pub(crate) async fn start(repository: &Path, folder: PathBuf) -> anyhow::Result<Self> {
        let programs = peer::programs(repository, "phoenix")?;
        std::fs::create_dir_all(&folder)?;
        let (address, other) = (free_port()?, free_port()?);
        let log = folder.join("server.log");
        let child = Command::new(programs.join("phoenix"))
            .arg("serve")
            .env("PHOENIX_WORKING_DIR", &folder)
            .env("PHOENIX_HOST", Ipv4Addr::LOCALHOST.to_string())
            .env("PHOENIX_PORT", address.to_string())
            .env("PHOENIX_GRPC_PORT", other.to_string())
            .env("PHOENIX_TELEMETRY_ENABLED", "false")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log)?)
            .spawn()
            .context("phoenix cannot be run")?;
        let access = Access { address: (Ipv4Addr::LOCALHOST, address).into(), key: String::new() };
        let mut phoenix = Self { child, access, folder };
        let begin = Instant::now();
        while !phoenix.is_ready().await {
            if let Some(status) = phoenix.child.try_wait()? {
                bail!("phoenix ended with {status}: {}", std::fs::read_to_string(&log).unwrap_or_default());
            }
            ensure!(begin.elapsed() < READY_MAX, "phoenix was not ready within {} s", READY_MAX.as_secs());
            tokio::time::sleep(LOOK).await;
        }
        Ok(phoenix)
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it shows so many spans.
    pub(crate) async fn shows(&self, spans: u64) -> anyhow::Result<()> {
        let begin = Instant::now();
        let mut connection = Connection::open(&self.access).await?;
        let query = br#"{"query": "{projects {edges {node {recordCount}}}}"}"#;
        loop {
            let answer: Answer = connection.post_plain("/graphql", "application/json", query).await?.json(200)?;
            let shown: u64 = answer.data.projects.edges.iter().map(|edge| edge.node.record_count).sum();
            if shown >= spans {
                return Ok(());
            }
            ensure!(begin.elapsed() < SHOWN_MAX, "phoenix shows {shown} of {spans} spans");
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn is_ready(&self) -> bool {
        let Ok(mut connection) = Connection::open(&self.access).await else { return false };
        connection.get_plain("/healthz").await.is_ok_and(|answer| answer.status == 200)
    }
}

impl Drop for Phoenix {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
