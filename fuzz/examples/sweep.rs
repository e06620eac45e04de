//! `sweep FORMAT ONE_OF FILE...`: every place of the files made dense; see `stash_fuzz::Sweep`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [format, one_of, files @ ..] = arguments.as_slice() else { return usage() };
    let Ok(one_of) = one_of.parse() else { return usage() };
    let mut sweep = stash_fuzz::Sweep::new(format, one_of);
    for file in files {
        let input = std::fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}"));
        sweep.input(&String::from_utf8_lossy(&input));
    }
    let (places, runs) = sweep.counts();
    println!("{places} places, {runs} runs");
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("sweep FORMAT ONE_OF FILE...");
    ExitCode::from(2)
}
