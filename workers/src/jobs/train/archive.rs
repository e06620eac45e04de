//! Checkpoints as one file: a gzipped tar of the checkpoint's folder, the same bytes for the same content.

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// Bytes that an archive may unpack to: a checkpoint of 8 billion parameters in fp32.
const UNPACKED_BYTES_MAX: u64 = 32 * 1024 * 1024 * 1024;

/// Packs a folder's files (no subfolders), sorted by name, without times and owners.
///
/// # Errors
/// Those of the disk.
pub(super) fn pack(folder: &Path, to: &Path) -> io::Result<()> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    paths.sort();
    let gzip = GzEncoder::new(BufWriter::new(File::create(to)?), Compression::fast());
    let mut tar = tar::Builder::new(gzip);
    for path in paths.iter().filter(|path| path.is_file()) {
        let file = File::open(path)?;
        let mut header = tar::Header::new_gnu();
        header.set_size(file.metadata()?.len());
        header.set_mode(0o644);
        let name = path.file_name().unwrap_or_default();
        tar.append_data(&mut header, Path::new("model").join(name), BufReader::new(file))?;
    }
    tar.into_inner()?.finish()?.flush()
}

/// Unpacks an archive of ours into a folder: its `model/` appears there.
///
/// # Errors
/// Those of the disk, of a damaged archive, and of one with entries that no checkpoint has.
pub fn unpack(archive: &Path, folder: &Path) -> io::Result<()> {
    let strange =
        |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("the checkpoint archive holds {what}"));
    let mut tar = tar::Archive::new(GzDecoder::new(BufReader::new(File::open(archive)?)));
    let mut total = 0_u64;
    std::fs::create_dir_all(folder.join("model"))?;
    for entry in tar.entries()? {
        let mut entry = entry?;
        total = total.saturating_add(entry.size());
        if total > UNPACKED_BYTES_MAX {
            return Err(strange("more than 32 GiB"));
        }
        let path = entry.path()?.into_owned();
        let name = path.strip_prefix("model").ok().filter(|name| name.components().count() == 1);
        let name = name.ok_or_else(|| strange("an entry outside model/"))?;
        if !entry.header().entry_type().is_file() || name.file_name().is_none() {
            return Err(strange("something that is no file"));
        }
        let mut to = BufWriter::new(File::create(folder.join("model").join(name))?);
        io::copy(&mut entry, &mut to)?;
        to.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked_and_equal_content_gives_equal_bytes() {
        let root = tempfile::tempdir().unwrap();
        let model = root.path().join("a");
        std::fs::create_dir(&model).unwrap();
        std::fs::write(model.join("config.json"), "{}").unwrap();
        std::fs::write(model.join("model.safetensors"), vec![7; 100_000]).unwrap();
        let (one, two) = (root.path().join("1.tar.gz"), root.path().join("2.tar.gz"));
        pack(&model, &one).unwrap();
        pack(&model, &two).unwrap();
        assert_eq!(std::fs::read(&one).unwrap(), std::fs::read(&two).unwrap());
        unpack(&one, &root.path().join("b")).unwrap();
        assert_eq!(std::fs::read(root.path().join("b/model/model.safetensors")).unwrap(), vec![7; 100_000]);
    }

    #[test]
    fn entries_outside_the_checkpoint_are_refused() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x.tar.gz");
        let mut tar = tar::Builder::new(GzEncoder::new(File::create(&path).unwrap(), Compression::fast()));
        let mut header = tar::Header::new_gnu();
        header.set_size(1);
        tar.append_data(&mut header, "other/evil", &b"x"[..]).unwrap();
        tar.into_inner().unwrap().finish().unwrap();
        assert!(unpack(&path, root.path()).is_err());
    }
}
