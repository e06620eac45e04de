//! Taking files in: what `stash import` and `stash watch` share.
//!
//! 1. [`find`] lists the files of folders, in a fixed order and bounded number.
//! 2. [`ledger`] remembers per server and key which file was imported in which state, so that one that did not change is passed
//!    over and an interrupted run goes on where it stopped.
//! 3. [`Intake`] sends one file. Its command's key is derived from the file, its content and how often it was imported, so that a
//!    file whose answer was lost is not imported twice.
//!
//! Traces without an id of their own are named by their place in their file ([`stamp::source_of`]), so that a file that changed is
//! an update.

mod find;
mod ledger;
mod stamp;
mod take;

pub(crate) use find::{ENDINGS, Found, is_taken, list};
pub(crate) use stamp::Stamp;
pub(crate) use take::{How, Intake, Outcome};
