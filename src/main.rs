//! The `stash` program: the server in all its roles, and the commands that work with it.

mod cli;
mod client;
mod doctor;
mod first_start;
mod output;
mod pages;
mod roles;
mod wiring;

use std::process::ExitCode;

fn main() -> ExitCode {
    output::exit_code(cli::run())
}
