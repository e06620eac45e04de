//! Where an export goes.

use crate::cli::Remote;
use crate::output::screen::Screen;
use crate::output::{self, progress};
use anyhow::Context as _;
use std::io::IsTerminal as _;
use std::path::PathBuf;

/// Which server, and where to.
#[derive(clap::Args)]
pub(super) struct To {
    /// File to write; without it, standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    remote: Remote,
}

impl To {
    /// Fetches an export. A file appears under its name only once it is whole.
    pub(super) async fn write(&self, path: &str) -> anyhow::Result<()> {
        let client = self.remote.client()?;
        let bar = progress::bytes("export", 0);
        let Some(to) = &self.output else {
            let out = tokio::io::stdout();
            if std::io::stdout().is_terminal() {
                return client.download(path, &mut Screen::new(out), &bar).await.map(|_| ());
            }
            return client.download(path, &mut { out }, &bar).await.map(|_| ());
        };
        let mut name = to.file_name().context("the output has no file name")?.to_owned();
        name.push(".part");
        let part = to.with_file_name(name);
        let written = async {
            let mut file = tokio::fs::File::create(&part).await?;
            let bytes = client.download(path, &mut file, &bar).await?;
            file.sync_all().await?;
            tokio::fs::rename(&part, to).await?;
            anyhow::Ok(bytes)
        };
        let written = written.await;
        bar.finish_and_clear();
        let bytes = written.with_context(|| format!("{} is not written", to.display()))?;
        if self.remote.json {
            return output::json(&serde_json::json!({ "file": to, "bytes": bytes }));
        }
        output::note(format_args!("{}: {bytes} bytes", to.display()));
        Ok(())
    }
}
