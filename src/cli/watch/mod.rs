//! `stash watch`: imports what is in a folder, and what grows there.
//!
//! 1. The system is asked to tell of changes ([`changes`]); where it cannot, the folder is looked through every few seconds.
//! 2. The folder is looked through: at the start, when changes were missed, and now and then in any case.
//! 3. A file that changed waits until it is quiet ([`pending`]) and is then imported whole; its traces are updated.
//! 4. While the server is away nothing is lost: the folder is looked through when it is back, and the ledger of imports knows
//!    what it has.

mod changes;
mod failures;
mod pending;

use super::Remote;
use super::import::{in_lines, object, reason};
use crate::client::{ApiError, is_broken_off, is_unreachable};
use crate::intake::{self, Found, How, Intake, Outcome, Stamp};
use crate::output;
use crate::roles::Stop;
use anyhow::{Context as _, bail};
use changes::Changes;
use failures::Failures;
use indicatif::ProgressBar;
use pending::Pending;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often the folder is looked through where the system tells of changes: what it missed is found then.
const LOOK_SELDOM: Duration = Duration::from_secs(60);

/// How often it is looked through where the system does not.
const LOOK_OFTEN: Duration = Duration::from_secs(2);

/// First pause before a server that is away is asked again; each is twice as long as the one before.
const PAUSE_MIN: Duration = Duration::from_millis(500);

/// Longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// What to watch.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder, with all below it
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    how: How,
    /// How long a file must be quiet before it is imported, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(10..=60_000))]
    quiet_ms: u64,
    /// Look through the folder every few seconds instead of asking the system for changes, as for network drives
    #[arg(long)]
    poll: bool,
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let folder = &args.folder;
    let facts = std::fs::metadata(folder).with_context(|| format!("{} cannot be watched", folder.display()))?;
    if !facts.is_dir() {
        bail!("{} is no folder; `stash import` takes files", folder.display());
    }
    let stop = Stop::on_signals()?;
    let work = Watch::begin(&args);
    let watch = tokio::select! {
        watch = work => watch?,
        () = stop.asked() => return Ok(()),
    };
    // A file on its way when it is stopped is as good as one whose answer was lost: the next import finishes it.
    tokio::select! {
        result = watch.run() => result,
        () = stop.asked() => Ok(()),
    }
}

struct Watch<'a> {
    args: &'a Args,
    intake: Intake,
    changes: Option<Changes>,
    pending: Pending,
    failures: Failures,
    next_look: Instant,
}

impl<'a> Watch<'a> {
    async fn begin(args: &'a Args) -> anyhow::Result<Self> {
        // Before the first look, so that nothing changes unseen in between.
        let changes = if args.poll { None } else { changes(&args.folder) };
        let intake = connect(args).await?;
        let how = if changes.is_some() { "" } else { ", by looking through it" };
        output::note(format_args!("watching {}{how}; stop with Ctrl-C", args.folder.display()));
        let pending = Pending::new(Duration::from_millis(args.quiet_ms));
        Ok(Self { args, intake, changes, pending, failures: Failures::default(), next_look: Instant::now() })
    }

    async fn run(mut self) -> anyhow::Result<()> {
        loop {
            let missed = self.changes.as_ref().is_some_and(Changes::take_lost);
            if missed || self.next_look <= Instant::now() {
                self.look().await?;
            }
            while let Some(path) = self.pending.take_due(Instant::now()) {
                self.import(path).await?;
            }
            if self.pending.take_lost() {
                // Not before there is room again.
                self.next_look = self.pending.next_due().unwrap_or_else(Instant::now);
            }
            let wake = self.pending.next_due().map_or(self.next_look, |due| due.min(self.next_look));
            tokio::select! {
                path = next_change(&mut self.changes) => {
                    if !path.as_os_str().is_empty() {
                        self.pending.changed(path, Instant::now());
                    }
                }
                () = tokio::time::sleep_until(wake.into()) => {}
            }
        }
    }

    /// Looks through the folder for files that are not imported as they are.
    async fn look(&mut self) -> anyhow::Result<()> {
        let often = self.changes.is_none();
        self.next_look = Instant::now() + if often { LOOK_OFTEN } else { LOOK_SELDOM };
        let folder = [self.args.folder.clone()];
        let listing = tokio::task::spawn_blocking(move || intake::list(&folder)).await?;
        for (path, fault) in listing.faults {
            if self.failures.is_new(&path, None) {
                output::note(format_args!("{}: {fault}", path.display()));
            }
        }
        for file in listing.files {
            let Ok(stamp) = Stamp::of(&file.path) else { continue };
            if !self.intake.has(&file.path, stamp) && !self.failures.has(&file.path, stamp) {
                self.pending.found(&file.path, Instant::now());
            }
        }
        Ok(())
    }

    async fn import(&mut self, path: PathBuf) -> anyhow::Result<()> {
        // Gone again.
        let Ok(stamp) = Stamp::of(&path) else { return Ok(()) };
        let file = Found { path, bytes: stamp.bytes, named: false };
        match self.intake.take(&file, &ProgressBar::hidden()).await {
            Ok(outcome) => self.tell(&file.path, stamp, outcome),
            Err(error) => {
                is_away(&error)?;
                output::note(format_args!("{error:#}; waiting for the server"));
                self.intake = connect(self.args).await?;
                output::note("the server is back");
                // With another log, or another key, everything may be new.
                self.next_look = Instant::now();
                self.pending.found(&file.path, Instant::now());
                Ok(())
            }
        }
    }

    fn tell(&mut self, path: &Path, stamp: Stamp, outcome: Outcome) -> anyhow::Result<()> {
        let json = self.args.remote.json;
        let state = match &outcome {
            Outcome::Imported(_) => "imported",
            Outcome::Unchanged => return Ok(()),
            Outcome::NotRecognised(_) => "not_recognised",
            Outcome::Failed(_) => "failed",
        };
        match outcome {
            Outcome::Imported(answer) if json => output::line(object(path, state, &answer)),
            Outcome::Imported(answer) => in_lines(path, &answer).iter().try_for_each(output::line),
            Outcome::NotRecognised(error) | Outcome::Failed(error) => {
                if self.failures.is_new(path, Some(stamp)) && !json {
                    output::note(format_args!("not imported: {}: {error:#}", path.display()));
                }
                if json { output::line(object(path, state, &reason(&error))) } else { Ok(()) }
            }
            Outcome::Unchanged => Ok(()),
        }
    }
}

async fn next_change(changes: &mut Option<Changes>) -> PathBuf {
    match changes {
        Some(changes) => changes.next().await,
        None => std::future::pending().await,
    }
}

fn changes(folder: &Path) -> Option<Changes> {
    match Changes::of(folder) {
        Ok(changes) => Some(changes),
        Err(error) => {
            output::note(format_args!("the system cannot tell of changes in {}: {error}", folder.display()));
            None
        }
    }
}

/// Finds the server; waits while it is away.
async fn connect(args: &Args) -> anyhow::Result<Intake> {
    let (mut pause, mut told) = (PAUSE_MIN, false);
    loop {
        let error = match Intake::open(&args.remote, &args.how, false).await {
            Ok(intake) => return Ok(intake),
            Err(error) => error,
        };
        is_away(&error)?;
        if !told {
            output::note(format_args!("{error:#}; waiting for it"));
            told = true;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// Fails with an error that waiting does not mend.
fn is_away(error: &anyhow::Error) -> anyhow::Result<()> {
    let away = match error.downcast_ref::<ApiError>() {
        Some(error) => !error.is_about_the_key() && !error.is_about_the_request(),
        None => is_unreachable(error) || is_broken_off(error),
    };
    if away { Ok(()) } else { bail!("{error:#}") }
}
