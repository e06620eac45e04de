//! Exit codes: 0 done, 1 failed, 2 wrong usage (by the argument parser).

use std::io::ErrorKind;
use std::process::ExitCode;

/// The failure has been printed already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AlreadyTold;

impl std::fmt::Display for AlreadyTold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("failed")
    }
}

impl std::error::Error for AlreadyTold {}

/// Tells of a failure and gives the code to exit with.
pub(crate) fn exit_code(result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    if reader_has_gone(&error) {
        return ExitCode::SUCCESS;
    }
    if !error.is::<AlreadyTold>() {
        super::note(format_args!("error: {}", in_words(&error)));
    }
    ExitCode::FAILURE
}

/// Whether the reader of our output has what it wanted, as in `stash traces list | head`.
fn reader_has_gone(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// The error and its causes; a cause that the text before it quotes is not said twice.
fn in_words(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context as _;

    #[test]
    fn causes_are_said_once() {
        let inner = || std::io::Error::other("the disk is full");
        let error = Err::<(), _>(inner()).context("cannot write x").unwrap_err();
        assert_eq!(in_words(&error), "cannot write x: the disk is full");
        let error = Err::<(), _>(inner()).context("cannot write x, the disk is full").unwrap_err();
        assert_eq!(in_words(&error), "cannot write x, the disk is full");
    }
}
