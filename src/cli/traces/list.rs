//! `stash traces list`

use crate::cli::Remote;
use crate::cli::remote::{encode, items, number, text};
use crate::output::{self, Table, local, shorten};
use serde_json::Value;

/// Characters of a title.
const TITLE_CHARS: usize = 50;

/// Which traces.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Text that the title or a step contains
    #[arg(value_name = "TEXT")]
    search: Option<String>,
    /// How many, 1 to 500
    #[arg(long, default_value_t = 20)]
    limit: u16,
    /// How many to pass over
    #[arg(long, default_value_t = 0)]
    offset: u64,
    /// The order
    #[arg(long, default_value = "newest",
        value_parser = ["newest", "oldest", "most_steps", "fewest_steps", "highest_score", "lowest_score"])]
    sort: String,
    /// Only those with this rating on themselves or a step: + or -
    #[arg(long, value_parser = ["+", "-"], allow_hyphen_values = true)]
    rating: Option<String>,
    /// Only those in which this tool is called
    #[arg(long)]
    tool: Option<String>,
    #[command(flatten)]
    remote: Remote,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.remote.client()?;
    let mut path = format!("/traces?limit={}&offset={}&sort={}", args.limit, args.offset, args.sort);
    for (name, value) in [("q", &args.search), ("tool_name", &args.tool)] {
        if let Some(value) = value {
            path.push_str(&format!("&{name}={}", encode(value)));
        }
    }
    if let Some(rating) = &args.rating {
        path.push_str(if rating == "+" { "&rating=1" } else { "&rating=-1" });
    }
    let page = client.get(&path).await?;
    if args.remote.json {
        return output::json(&page);
    }
    show(&page)
}

fn show(page: &Value) -> anyhow::Result<()> {
    let traces = items(page, "traces");
    if traces.is_empty() {
        return output::line(
            "No traces. `stash import FILE` brings some in; docs/formats says what a file may look like.",
        );
    }
    let mut table = Table::new(&["id", "title", "steps", "+", "-", "score", "imported"]);
    for trace in traces {
        let score = trace.get("latest_score").and_then(|score| score.get("score")).and_then(Value::as_f64);
        table.row(&[
            &text(trace, "id"),
            &shorten(text(trace, "title"), TITLE_CHARS),
            &number(trace, "step_count"),
            &number(trace, "positive_count"),
            &number(trace, "negative_count"),
            &score.map(|score| format!("{score:.3}")).unwrap_or_default(),
            &local(text(trace, "created_at")),
        ]);
    }
    table.print()?;
    output::note(format_args!("{} of {}", traces.len(), number(page, "total")));
    Ok(())
}
