//! `stash models add`

use crate::bases::{Adding, Name, folder, hub};
use crate::client::load_local;
use crate::output::{self, progress};
use crate::wiring::settings::Overrides;
use anyhow::Context as _;
use serde_json::json;
use stash_model::base::Base;
use std::path::{Path, PathBuf};

/// Where the base comes from, and what it is called here.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Its name in trainings: NAME or OWNER/NAME
    name: Name,
    #[command(flatten)]
    from: Origin,
    /// Put it in the place of a base of this name
    #[arg(long)]
    replace: bool,
    /// The data folder to add it to: that of every machine that trains [default: STASH_DATA, else that of `make run`, else the user's data folder]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Print JSON, for scripts
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
#[group(multiple = false)]
struct Origin {
    /// Fetch it from the Hugging Face hub, a revision behind an @; the default, with the name as the repository. HF_ENDPOINT and HF_TOKEN are heeded
    #[arg(long, value_name = "REPO[@REV]")]
    hub: Option<hub::Source>,
    /// Copy it from a folder in Hugging Face layout
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Convert a GGUF file of a Llama, Qwen2 or Qwen3 model
    #[arg(long, value_name = "FILE")]
    gguf: Option<PathBuf>,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let settings = load_local(Overrides { data: args.data.as_deref(), listen: None })?;
    let data = settings.data.folder;
    let adding = Adding::begin(&data, &args.name, args.replace)?;
    let from = match (&args.from.gguf, &args.from.folder, &args.from.hub) {
        (Some(file), _, _) => {
            adding.keep_only(&[])?;
            adding.discard_on_error(convert(file, adding.folder()).await)?;
            json!({ "gguf": file })
        }
        (_, Some(folder), _) => {
            adding.keep_only(&[])?;
            adding.discard_on_error(copy(folder, adding.folder()).await)?;
            json!({ "folder": folder })
        }
        (_, _, source) => {
            let source = match source {
                Some(source) => source.clone(),
                None => args.name.as_str().parse().map_err(anyhow::Error::msg)?,
            };
            // What was fetched stays, so that the same command goes on there.
            let listing = download(&source, adding.folder()).await?;
            let names: Vec<&str> = listing.files.iter().map(|file| file.name.as_str()).collect();
            adding.keep_only(&names)?;
            json!({ "hub": source.repository, "commit": listing.commit })
        }
    };
    let found =
        tokio::task::spawn_blocking(move || adding.finish()).await.context("checking the base broke down")??;
    tell(&args, &found, &from)
}

fn tell(args: &Args, found: &Base, from: &serde_json::Value) -> anyhow::Result<()> {
    let (name, family) = (args.name.as_str(), found.config.family.model_type());
    if args.json {
        let parameters = found.parameters;
        return output::json(&json!({ "name": name, "family": family, "parameters": parameters, "from": from }));
    }
    let millions = found.parameters as f64 / 1e6;
    output::line(format_args!("added {name}: {family}, {millions:.0} million parameters"))?;
    output::note(format_args!("Next: `stash train --base {name} …` trains a reward model from it"));
    Ok(())
}

async fn convert(file: &Path, to: &Path) -> anyhow::Result<()> {
    let (file, to) = (file.to_owned(), to.to_owned());
    let bar = progress::share("converting");
    let shown = bar.clone();
    let work = move || stash_model::gguf::import(&file, &to, |share| progress::set_share(&shown, share, "weights"));
    let done = tokio::task::spawn_blocking(work).await;
    bar.finish_and_clear();
    Ok(done.context("the conversion broke down")??)
}

async fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let files = folder::wanted(from)?;
    let bar = progress::bytes("copying", files.iter().map(|file| file.1).sum());
    let (to, shown) = (to.to_owned(), bar.clone());
    let done = tokio::task::spawn_blocking(move || folder::copy(&files, &to, &shown)).await;
    bar.finish_and_clear();
    done.context("copying broke down")?
}

/// Fetches all files of a commit.
async fn download(source: &hub::Source, to: &Path) -> anyhow::Result<hub::Listing> {
    let hub = hub::Hub::of_environment()?;
    let listing = hub::list(&hub, source).await?;
    let bar = progress::bytes(&source.repository, listing.bytes());
    for file in &listing.files {
        if let Err(error) = hub::fetch(&hub, source, &listing.commit, file, to, &bar).await {
            bar.finish_and_clear();
            return Err(error);
        }
    }
    bar.finish_and_clear();
    Ok(listing)
}
