//! `stash-bench`: the end-to-end figures of Stash. `make bench` builds what it measures and runs it.
//!
//! Each figure is a file in `jobs/`. A job starts the real `stash` on a data folder of its own, talks to it over HTTP as any
//! client does, and stops it. A job that fails is told of, and the others go on.

mod bench;
mod figure;
mod http;
mod jobs;
mod kafka;
mod load;
mod machine;
mod memory;
mod options;
mod peer;
mod phoenix;
mod server;
mod spans;
mod statistics;
mod table;

use bench::Bench;
use clap::Parser as _;
use figure::Measured;
use machine::Machine;
use options::Options;
use std::process::ExitCode;

/// The allocator of `stash`: what is measured in this process should allocate as it does there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match run(Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every job went well.
fn run(options: Options) -> anyhow::Result<bool> {
    let chosen = jobs::choose(&options.only)?;
    // One thread makes the load, and the rest of the machine is the server's.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut bench = Bench::new(options)?;
    let machine = Machine::look(&bench.repository);
    println!("{}\ncommit {}", machine.description, machine.commit);
    let load = machine::load_average();
    if load > 0.5 {
        println!("note: the machine is busy (load {load:.2}); figures will be worse than they could be");
    }
    let mut measured: Vec<Measured> = Vec::new();
    let mut failed = 0;
    for job in chosen {
        eprintln!("measuring {}", job.names().join(", "));
        match runtime.block_on(job.run(&mut bench)) {
            Ok(figures) => measured.extend(figures),
            Err(error) => {
                failed += 1;
                eprintln!("{} failed: {error:#}", job.names().join(", "));
            }
        }
    }
    println!("{}", table::of(&measured));
    let out = match (&bench.options.out, bench.options.quick) {
        (Some(path), _) => Some(path.clone()),
        (None, false) => Some(bench.repository.join("bench/results.json")),
        (None, true) => None,
    };
    if let Some(out) = out.filter(|_| !measured.is_empty()) {
        figure::keep(&out, &machine, &measured)?;
        println!("kept in {}", out.display());
    }
    Ok(failed == 0)
}
