//! What every job is given: the options, a folder, the programs, and what an earlier job found out.

use crate::http::{Access, Connection};
use crate::kafka::Kafka;
use crate::options::Options;
use crate::server::{Place, Server};
use anyhow::{Context as _, ensure};
use serde::Deserialize;
use stash_bench::corpus::{Corpus, FORMAT, Shape};
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Where a server keeps its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Log {
    /// In its Postgres.
    Postgres,
    /// In a Kafka broker.
    Kafka,
}

/// The state of a run.
pub(crate) struct Bench {
    /// What was asked for.
    pub(crate) options: Options,
    /// The repository's folder.
    pub(crate) repository: PathBuf,
    broker: Option<Kafka>,
    /// Everything that is made goes here, and goes when this does: so it stands after the broker, which runs in it.
    scratch: TempDir,
    programs: PathBuf,
    places: u32,
    /// Commands per second, by log, once measured.
    pub(crate) rates: BTreeMap<Log, f64>,
}

/// What an import answers.
#[derive(Debug, Deserialize)]
pub(crate) struct Imported {
    /// Traces taken in.
    pub(crate) imported: u64,
    /// Their ids.
    pub(crate) trace_ids: Vec<String>,
    /// Records that were not taken.
    pub(crate) skipped_count: u64,
}

impl Bench {
    /// Makes the folder and finds the programs.
    pub(crate) fn new(options: Options) -> anyhow::Result<Self> {
        // The server's Postgres may run as another user, whom every folder above its own must let through.
        let scratch = tempfile::Builder::new()
            .prefix("stash-bench-")
            .permissions(Permissions::from_mode(0o755))
            .tempdir()
            .context("no temporary folder can be made")?;
        let programs = match &options.programs {
            Some(folder) => folder.clone(),
            None => std::env::current_exe()?.parent().context("this program stands in no folder")?.to_owned(),
        };
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_owned);
        Ok(Self { options, repository, broker: None, scratch, programs, places: 0, rates: BTreeMap::new() })
    }

    /// A path for something new.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// One of the product's programs.
    pub(crate) fn program(&self, name: &str) -> anyhow::Result<PathBuf> {
        let path = self.programs.join(name);
        ensure!(path.is_file(), "{} is not there; `make bench` builds it", path.display());
        Ok(path)
    }

    /// A new data folder.
    pub(crate) fn place(&mut self, log: Log) -> anyhow::Result<Place> {
        self.places += 1;
        let (program, data) = (self.program("stash")?, self.path(&format!("data-{}", self.places)));
        let topic = format!("bench-{}", self.places);
        let broker = match log {
            Log::Postgres => None,
            Log::Kafka => Some((self.broker()?, topic)),
        };
        Ok(Place::new(&program, data, broker))
    }

    fn broker(&mut self) -> anyhow::Result<&Kafka> {
        if self.broker.is_none() {
            self.broker = Some(Kafka::start(&self.repository, self.scratch.path().join("kafka"))?);
        }
        self.broker.as_ref().context("the broker is gone")
    }

    /// Imports generated traces and returns their ids once they can be read.
    pub(crate) async fn import(&self, access: &Access, seed: i64, shape: Shape) -> anyhow::Result<Vec<String>> {
        let file = self.path("import.jsonl");
        Corpus::new(seed).file(shape, &file)?;
        let imported = import_file(access, &file).await?;
        std::fs::remove_file(&file)?;
        Ok(imported.trace_ids)
    }

    /// A server on a new folder with some traces to annotate.
    pub(crate) async fn annotated_server(&mut self, log: Log) -> anyhow::Result<(Place, Server, Vec<String>)> {
        /// More than there are clients, so that each has a trace of its own.
        const TRACES: u64 = 256;
        let place = self.place(log)?;
        let server = place.start().await?;
        let shape = Shape::Equal { count: TRACES, bytes_each: 5_000 };
        let traces = self.import(&server.access, 1, shape).await?;
        Ok((place, server, traces))
    }

    /// The first value in full runs, the second in quick ones.
    pub(crate) fn full_or_quick<T>(&self, full: T, quick: T) -> T {
        if self.options.quick { quick } else { full }
    }
}

/// Imports a file as a raw body and waits until its traces can be read.
pub(crate) async fn import_file(access: &Access, file: &Path) -> anyhow::Result<Imported> {
    let mut connection = Connection::open(access).await?;
    let answer = connection.post_file(&format!("/traces/import?format={FORMAT}"), file).await.context("import")?;
    let imported: Imported = answer.json(200).context("import")?;
    ensure!(imported.skipped_count == 0, "{} records of the generated file were not taken", imported.skipped_count);
    let readable = crate::load::read_at(&mut connection, "/traces?limit=1", answer.position.as_deref()).await?;
    ensure!(readable, "imported traces could not be read");
    Ok(imported)
}
