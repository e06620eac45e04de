//! `stash traces delete`

use crate::cli::Remote;
use crate::cli::remote::trace_segment;
use crate::output;
use anyhow::Context as _;

/// Which traces.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Their ids, or external:<id>
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<String>,
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.remote.client()?;
    for trace in &args.traces {
        client.delete(&format!("/traces/{}", trace_segment(trace))).await.with_context(|| trace.clone())?;
        if !args.remote.json {
            output::line(format_args!("deleted {trace}"))?;
        }
    }
    if args.remote.json { output::json(&serde_json::json!({ "deleted": args.traces })) } else { Ok(()) }
}
