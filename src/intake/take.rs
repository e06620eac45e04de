//! One file, from disk to the server.

use super::Found;
use super::ledger::{Entry, Ledger};
use super::stamp::{Stamp, digest_of, full, now_ns, source_of};
use crate::cli::{Remote, encode};
use crate::client::{ApiError, Client, Upload, is_broken_off, is_unreachable, state_folder};
use indicatif::ProgressBar;
use serde_json::Value;
use stash_domain::ids::{Digest, derive};
use std::path::Path;
use uuid::Uuid;

/// How files are imported.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct How {
    /// Format of the files, else found out for each; `stash traces formats` lists them
    #[arg(long, default_value = "auto")]
    format: String,
    /// What a record in error does: fail its whole file, or be left out
    #[arg(long, default_value = "fail", value_parser = ["fail", "skip"])]
    on_error: String,
    /// A score of Langfuse or LangSmith that is a rating, and its good end: NAME:up or NAME:down; may be given several times
    #[arg(long, value_name = "NAME:END")]
    score_map: Vec<String>,
}

impl How {
    /// The parameters of the request, but for the file's own.
    fn query(&self) -> String {
        let mut query = format!("format={}&on_error={}", encode(&self.format), self.on_error);
        if !self.score_map.is_empty() {
            query.push_str("&score_map=");
            query.push_str(&encode(&self.score_map.join(",")));
        }
        query
    }
}

/// What became of a file.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It was imported; the server's answer.
    Imported(Value),
    /// It is as it was when it was imported last.
    Unchanged,
    /// It has the shape of no format.
    NotRecognised(anyhow::Error),
    /// It cannot be imported, and the others may.
    Failed(anyhow::Error),
}

/// Imports files of one user into one server.
pub(crate) struct Intake {
    client: Client,
    ledger: Ledger,
    query: String,
    again: bool,
    /// The server's event log; none when it is not known yet, and nothing is passed over.
    log: Option<String>,
}

impl Intake {
    /// Finds the server, asks it which log it has, and opens the ledger; with `again`, nothing is passed over.
    pub(crate) async fn open(remote: &Remote, how: &How, again: bool) -> anyhow::Result<Self> {
        let client = remote.client()?;
        let log = client.log().await?;
        let ledger = Ledger::of_client(state_folder(), &client.identity())?;
        Ok(Self { client, ledger, query: how.query(), again, log })
    }

    /// Whether a file of this look is imported already.
    pub(crate) fn has(&self, path: &Path, stamp: Stamp) -> bool {
        let entry = self.entry(&full(path).to_string_lossy());
        !self.again && entry.is_some_and(|entry| entry.covers(stamp))
    }

    /// Imports a file, and moves the bar by the bytes that it had when it was found.
    ///
    /// # Errors
    /// What concerns the other files as much: the server is away, or refuses the key.
    pub(crate) async fn take(&mut self, file: &Found, bar: &ProgressBar) -> anyhow::Result<Outcome> {
        let begin = bar.position();
        let outcome = self.send(file, bar).await;
        // Whatever became of it, and however it changed meanwhile.
        bar.set_position(begin + file.bytes);
        match outcome {
            Err(error) if self.is_about(&error).await => Ok(failed(error)),
            outcome => outcome,
        }
    }

    async fn send(&mut self, file: &Found, bar: &ProgressBar) -> anyhow::Result<Outcome> {
        let (path, full) = (file.path.clone(), full(&file.path));
        let name = full.to_string_lossy().into_owned();
        let (stamp, looked_ns) = (Stamp::of(&path)?, now_ns());
        if self.has(&path, stamp) {
            return Ok(Outcome::Unchanged);
        }
        let bytes = stamp.bytes;
        let (digest, bytes) = tokio::task::spawn_blocking(move || digest_of(&path, bytes)).await??;
        let new = |how: String, log: String, round: u64| Entry {
            path: name.clone(),
            digest,
            bytes,
            modified_ns: stamp.modified_ns,
            looked_ns,
            how,
            log,
            round,
        };
        if !self.again
            && let Some(known) = self.entry(&name)
            && known.digest == digest
        {
            let entry = new(known.how.clone(), known.log.clone(), known.round);
            self.ledger.put(entry)?;
            return Ok(Outcome::Unchanged);
        }
        let round = self.ledger.get(&name).map_or(0, |entry| entry.round.saturating_add(1));
        let path = format!("/traces/import?{}&source={}", self.query, source_of(&full));
        let key = self.key(&name, digest, round);
        let upload = Upload { path: &path, file: &file.path, bytes, key: &key };
        let answer = self.client.upload(upload, bar).await?;
        self.log = self.client.log_remembered();
        if let Some(log) = self.log.clone() {
            self.ledger.put(new(self.query.clone(), log, round))?;
        }
        Ok(Outcome::Imported(answer))
    }

    /// What is remembered of a file that this log took in this way.
    fn entry(&self, name: &str) -> Option<&Entry> {
        let entry = self.ledger.get(name)?;
        (entry.how == self.query && Some(&entry.log) == self.log.as_ref()).then_some(entry)
    }

    /// The key of the command: the same when the answer to an import was lost, another when the file was imported since.
    fn key(&self, name: &str, digest: Digest, round: u64) -> String {
        if self.again {
            return Uuid::now_v7().to_string();
        }
        derive("import-file", &[name.as_bytes(), &digest.0, self.query.as_bytes(), &round.to_be_bytes()]).to_string()
    }

    /// Whether an error concerns this one file.
    async fn is_about(&self, error: &anyhow::Error) -> bool {
        match error.downcast_ref::<ApiError>() {
            Some(error) => error.is_about_the_request(),
            // A connection that broke: if the server is there, it is the file that cannot be sent.
            None if is_broken_off(error) => self.client.log().await.is_ok(),
            None => !is_unreachable(error),
        }
    }
}

fn failed(error: anyhow::Error) -> Outcome {
    let unknown = error.downcast_ref::<ApiError>().is_some_and(|error| error.code == "unknown_format");
    if unknown { Outcome::NotRecognised(error) } else { Outcome::Failed(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intake() -> Intake {
        let client = Client::new("http://localhost:1", "key").unwrap();
        let query = "format=auto&on_error=fail".to_owned();
        Intake { client, ledger: Ledger::default(), query, again: false, log: Some("log".to_owned()) }
    }

    #[test]
    fn a_repeat_has_the_same_key_and_a_changed_file_another() {
        let mut intake = intake();
        let (a, b) = (Digest::of(b"a"), Digest::of(b"b"));
        assert_eq!(intake.key("/x", a, 0), intake.key("/x", a, 0));
        let others = [intake.key("/x", b, 0), intake.key("/x", a, 1), intake.key("/y", a, 0)];
        assert!(others.iter().all(|key| *key != intake.key("/x", a, 0)));
        intake.again = true;
        assert_ne!(intake.key("/x", a, 0), intake.key("/x", a, 0));
    }

    #[test]
    fn an_entry_of_another_log_or_in_another_way_is_none() {
        let mut intake = intake();
        let entry = Entry {
            path: "/x".to_owned(),
            digest: Digest::of(b"a"),
            bytes: 1,
            modified_ns: 1,
            looked_ns: 10_000_000_000,
            how: intake.query.clone(),
            log: "log".to_owned(),
            round: 0,
        };
        intake.ledger.put(entry.clone()).unwrap();
        assert!(intake.entry("/x").is_some());
        intake.log = Some("other".to_owned());
        assert!(intake.entry("/x").is_none());
        intake.log = None;
        assert!(intake.entry("/x").is_none());
        intake.log = Some("log".to_owned());
        intake.ledger.put(Entry { how: "format=stash&on_error=fail".to_owned(), ..entry }).unwrap();
        assert!(intake.entry("/x").is_none());
    }
}
