//! `stash traces title`

use crate::cli::Remote;
use crate::cli::remote::{text, trace_segment};
use crate::output;
use serde_json::json;

/// Which trace, and what title.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub(crate) struct Args {
    /// Its id, or external:<the id it has where it was recorded>
    trace: String,
    /// The title; it stands whatever is imported or generated later
    #[arg(group = "what")]
    title: Option<String>,
    /// Take back a title that was given here
    #[arg(long, group = "what")]
    clear: bool,
    /// Ask a language model for one, in the place of the derived or generated one
    #[arg(long, group = "what")]
    generate: bool,
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.remote.client()?;
    let path = format!("/traces/{}", trace_segment(&args.trace));
    let answer = if args.generate {
        client.post(&format!("{path}/title"), &json!({})).await?
    } else {
        client.patch(&path, &json!({ "title": args.title })).await?
    };
    if args.remote.json {
        return output::json(&answer);
    }
    output::line(format_args!("{} ({})", text(&answer, "title"), text(&answer, "title_source")))?;
    if args.generate {
        output::note("asked for; the title is written in the background");
    }
    Ok(())
}
