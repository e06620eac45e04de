//! `docs/cli.md`, written from the definitions of the arguments, so that it cannot say anything else than `--help` does.

use super::Cli;
use clap::{Command, CommandFactory as _};
use std::fmt::Write as _;
use std::path::Path;

const HEAD: &str = "\
# Command line

<!-- Written from the code (src/cli): change it there, then run the tests of the package stash with UPDATE_DOCS=1. -->

`stash up` and `stash serve` are the server. The other commands are of three kinds:

- Those about traces, annotations, models and exports talk to a server. Which one, and with which key: `STASH_URL` and
  `STASH_API_KEY`; what they leave open is read from `connection.json`, which `stash up` leaves in its data folder for the
  user who runs it. The position of the last command is remembered per server in `$XDG_STATE_HOME/stash/positions.json`, so that
  the next command sees what this one did. They speak plain HTTP; a server behind TLS is reached through a tunnel.
- Those about users, keys, the log, projections and dead letters work on the database of a data folder (`--data`), whether a
  server runs on it or not, or on that of `DATABASE_URL`.
- `stash eval` needs neither: it asks the language model of the settings about made-up cases.

The data folder is that of `--data`, else of `STASH_DATA`, else that of `make run` (`data` in the folder where the command is run, if a
server was started on it), else the user's. `stash up` and `stash serve` pass over the third.

`--json` prints JSON for scripts; without it, tables, with times in your zone (`TZ`). Results go to standard output,
everything about the work to standard error. Exit codes: 0 done, 1 failed, 2 wrong usage.
`stash completions bash > /etc/bash_completion.d/stash` (or `zsh`, `fish`) completes commands and options.
";

/// The page.
fn page() -> String {
    let mut page = HEAD.to_owned();
    let mut cli = Cli::command();
    cli.build();
    for command in cli.get_subcommands_mut() {
        add(&mut page, command);
    }
    page
}

/// A section per command that does something.
fn add(page: &mut String, command: &mut Command) {
    if command.get_name() == "help" {
        return;
    }
    if command.has_subcommands() {
        for verb in command.get_subcommands_mut() {
            add(page, verb);
        }
        return;
    }
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    let help = command.render_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(page, "\n## `{name}`\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
}

#[test]
fn the_page_about_the_command_line_is_current() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cli.md");
    let made = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &made).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == made, "docs/cli.md is not current; run the tests with UPDATE_DOCS=1 and commit what they write");
}
