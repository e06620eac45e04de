//! A disk that fills up: a small file system mounted for the test. Where mounting is not permitted, a limit on the size of files
//! stands in for it, and the test says so.

use super::{number, programs};
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes of one write of the ballast.
const BALLAST_STEP: usize = 64 * 1024;

/// A folder with little room.
pub(crate) struct SmallDisk {
    folder: PathBuf,
    ballast: PathBuf,
    mounted: bool,
}

impl SmallDisk {
    /// Makes `folder` one of at most `mebibytes`. Without the right to mount (or with `STASH_FAULT_NO_MOUNT=1`) it stays a folder
    /// like any other, and [`Self::fill`] limits the files of one process instead.
    pub(crate) fn make(folder: &Path, mebibytes: u32) -> Self {
        fs::create_dir_all(folder).expect("a folder");
        let options = format!("size={mebibytes}m,mode=0700");
        let mounted = number("STASH_FAULT_NO_MOUNT") != Some(1)
            && run(Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder)).is_ok();
        if !mounted {
            println!(
                "\n*** NO FILE SYSTEM CAN BE MOUNTED HERE (that takes root). Instead of a full disk, this test limits the size of \
                 files of the process that answers; Postgres always has room. Run it as root for the real thing. ***\n"
            );
        }
        Self { folder: folder.to_owned(), ballast: folder.join("ballast"), mounted }
    }

    /// Takes all the room that is left. Where nothing is mounted, forbids the process to make files larger than `bytes`.
    pub(crate) fn fill(&self, process: u32, bytes: u64) {
        if !self.mounted {
            limit(process, &bytes.to_string());
            return;
        }
        let mut ballast = File::create(&self.ballast).expect("a file");
        let mut step = BALLAST_STEP;
        while step > 0 {
            match ballast.write(&vec![0; step]) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::StorageFull => step /= 2,
                Err(error) => panic!("the disk cannot be filled: {error}"),
            }
        }
    }

    /// Gives the room back.
    pub(crate) fn free(&self, process: u32) {
        if self.mounted {
            fs::remove_file(&self.ballast).expect("the ballast goes");
        } else {
            limit(process, "unlimited");
        }
    }

    /// Whether it is a file system of its own, so that it can be seen to be full.
    pub(crate) fn is_mounted(&self) -> bool {
        self.mounted
    }

    /// A command that starts `stash` so that a file over its limit is an error, as on a full disk, and not the end.
    pub(crate) fn command() -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""]).arg(programs::stash());
        command
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        if self.mounted {
            // The janitor does it again.
            let _ = run(Command::new("umount").arg("-l").arg(&self.folder));
        }
    }
}

/// Limits the files of a process.
fn limit(process: u32, size: &str) {
    let limited = run(Command::new("prlimit").args(["--pid", &process.to_string(), &format!("--fsize={size}:")]));
    limited.expect("prlimit sets a limit");
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
