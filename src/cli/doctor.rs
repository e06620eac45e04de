//! `stash doctor`

use crate::client::load_local;
use crate::doctor::{self, State};
use crate::output::{self, AlreadyTold};
use crate::wiring::settings::Overrides;
use serde_json::json;
use std::net::SocketAddr;
use std::path::PathBuf;

/// What to look at.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The data folder [default: STASH_DATA, else that of `make run`, else the user's data folder]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Address that `stash up` would answer on [default: STASH_LISTEN, else 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// Print JSON, for scripts
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let settings = load_local(Overrides { data: args.data.as_deref(), listen: args.listen })?;
    let findings = doctor::examine(&settings).await;
    let ill = findings.iter().any(|finding| finding.state == State::Broken);
    if args.json {
        let all: Vec<_> = findings
            .iter()
            .map(|finding| {
                json!({ "check": finding.check, "state": finding.state.as_str(), "found": finding.found, "cure": finding.cure })
            })
            .collect();
        output::json(&json!({ "ok": !ill, "checks": all }))?;
    } else {
        for finding in &findings {
            output::line(format_args!("{:<8}{:<16}{}", finding.state.as_str(), finding.check, finding.found))?;
            if let Some(cure) = &finding.cure {
                output::line(format_args!("{:<24}{cure}", ""))?;
            }
        }
    }
    if ill { Err(AlreadyTold.into()) } else { Ok(()) }
}
