//! Lands new schema versions: adds their lines to `registry.lock` and writes their golden files. What has landed is never
//! touched: a landed file that was edited or removed is reported, and nothing is written.
//!
//! `cargo run -p stash-schemas --example lock`, after a new `<event>/v<N>.avsc`.

mod land;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    match land::run(Path::new(env!("CARGO_MANIFEST_DIR"))) {
        Ok(written) if written.is_empty() => println!("nothing new"),
        Ok(written) => written.iter().for_each(|line| println!("{line}")),
        Err(faults) => {
            faults.iter().for_each(|fault| eprintln!("{fault}"));
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
