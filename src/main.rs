//! The `stash` program: the server in all its roles, and the commands that work with it.

mod bases;
mod cli;
mod client;
mod doctor;
mod first_start;
mod intake;
mod output;
mod pages;
mod roles;
mod wiring;

use std::process::ExitCode;

/// A request allocates some hundred small things on one thread and frees them on another, where the system's allocator took a
/// tenth of the processor under load (ADR 7).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    output::exit_code(cli::run())
}
