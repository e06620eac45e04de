//! Rendered texts in a file, read back one at a time.

use stash_domain::rendering::RenderedText;
use std::fs::File;
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Where a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spooled {
    offset: u64,
    length: usize,
}

/// The file; it has no name and is gone when it is dropped.
pub struct Spool {
    file: BufWriter<File>,
    end: u64,
}

impl Spool {
    /// A new file in this folder.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn create(folder: &Path) -> io::Result<Self> {
        let mut file = tempfile::tempfile_in(folder)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(Self { file: BufWriter::new(file), end: 0 })
    }

    /// Appends a text.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn put(&mut self, text: &RenderedText) -> io::Result<Spooled> {
        let bytes = serde_json::to_vec(text)?;
        self.file.write_all(&bytes)?;
        let place = Spooled { offset: self.end, length: bytes.len() };
        self.end += bytes.len() as u64;
        Ok(place)
    }

    /// Makes all texts readable.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn seal(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    /// Reads a text.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn get(&self, place: Spooled) -> io::Result<RenderedText> {
        let mut bytes = vec![0; place.length];
        self.file.get_ref().read_exact_at(&mut bytes, place.offset)?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}
