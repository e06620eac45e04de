//! What is asserted of an importer.

use crate::budget::within;
use crate::keep::{Digest, Export};
use crate::larger;
use stash_domain::formats::{LineWriter, OnError, ReadError, ReadOptions, Report, TraceSink, check, read};
use std::io::Cursor;

/// The format that exports are in.
const EXPORT: &str = "stash";

/// Reads an input in a format, in every way there is.
///
/// # Panics
/// When one of the crate's assertions does not hold.
pub fn import(format: &str, data: &[u8]) {
    let skip = ReadOptions { on_error: OnError::Skip, ..ReadOptions::default() };
    let walked = ReadOptions { record_bytes_in_memory: 0, ..skip };
    let strict = ReadOptions::default();

    let (found, digest) = digest(format, data, skip);
    let (found_walked, digest_walked) = self::digest(format, data, walked);
    assert_eq!(found.is_ok(), found_walked.is_ok(), "walking gives another result: {found:?} {found_walked:?}");
    let checked = within("checking", data, || check(format, &mut Cursor::new(data), strict));
    match (&found, &found_walked) {
        (Ok(found), Ok(found_walked)) => {
            assert_eq!(digest, digest_walked, "walking gives other traces");
            assert_eq!(counts(found), counts(found_walked));
            // What is good throughout needs no skipping. (A last line cut short is skipped in either case.)
            assert!(checked.is_ok() || found.skipped.count > 0, "{checked:?} {found:?}");
            if found.traces > 0 {
                exports_the_same(format, data, skip, digest);
            }
        }
        _ => assert!(checked.is_err(), "{checked:?} although {found:?}"),
    }
    for larger in larger(data) {
        drop(within("checking", &larger, || check(format, &mut Cursor::new(&larger), skip)));
        drop(within("walking", &larger, || check(format, &mut Cursor::new(&larger), walked)));
    }
}

fn digest(format: &str, data: &[u8], options: ReadOptions) -> (Result<Report, ReadError>, u64) {
    let mut digest = Digest::default();
    let report = within("reading", data, || read_to(format, data, options, &mut digest));
    (report, digest.value())
}

fn read_to(format: &str, data: &[u8], options: ReadOptions, sink: &mut dyn TraceSink) -> Result<Report, ReadError> {
    read(format, &mut Cursor::new(data), options, sink)
}

/// What of a report says how much was found.
fn counts(report: &Report) -> [u64; 6] {
    let Report { format: _, traces, steps, spans, bytes, warnings, skipped } = report;
    [*traces, *steps, *spans, *bytes, warnings.count, skipped.count]
}

/// Asserts that what is exported reads back as it was.
fn exports_the_same(format: &str, data: &[u8], options: ReadOptions, digest: u64) {
    let mut export = Export(LineWriter::new(Vec::new()));
    let read = read_to(format, data, options, &mut export);
    assert!(read.is_ok(), "the second reading fails: {read:?}");
    let lines = export.0.into_inner();
    let (again, digest_again) = self::digest(EXPORT, &lines, ReadOptions::default());
    let shown = || String::from_utf8_lossy(&lines).into_owned();
    assert!(again.is_ok(), "the export is refused: {again:?}\n{}", shown());
    assert_eq!(digest, digest_again, "the export reads back otherwise\n{}", shown());
}
