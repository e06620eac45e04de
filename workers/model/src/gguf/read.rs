//! The header of a GGUF file: metadata, and where each tensor lies.
//!
//! Layout, little-endian (<https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>): `GGUF`, version, number of tensors,
//! number of metadata entries; the entries (key, type, value); the tensors (name, dimensions, type, offset); padding; data.
//!
//! Invariant: nothing is allocated by a length that the file states before the file is known to hold that much, and every
//! count has a bound of its own.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::quant::Encoding;
use super::value::{Array, Value};
use crate::error::ModelError;

/// Metadata entries accepted. Real files have under 100.
const ENTRIES_MAX: u64 = 4_096;
/// Tensors accepted: those of the deepest model that [`crate::config`] accepts.
const TENSORS_MAX: u64 = 16 * crate::config::LAYERS_MAX as u64;
/// Bytes of a key or a tensor's name; the format's own limit on keys.
const NAME_BYTES_MAX: u64 = 65_535;
/// Bytes of a text in the metadata. The longest in use are chat templates.
const TEXT_BYTES_MAX: u64 = 16 << 20;
/// Items of an array: merges of the largest vocabulary.
const ITEMS_MAX: u64 = 2 * crate::config::VOCAB_MAX as u64;
/// Bytes of all metadata. The vocabulary of Qwen3 takes 6 MB.
const METADATA_BYTES_MAX: u64 = 256 << 20;
/// Dimensions of a tensor.
const DIMENSIONS_MAX: u32 = 4;
/// Where data begins is a multiple of this, unless the file says otherwise.
const ALIGNMENT_DEFAULT: u64 = 32;

/// An open GGUF file.
#[derive(Debug)]
pub struct GgufFile {
    path: PathBuf,
    file: File,
    metadata: BTreeMap<String, Value>,
    tensors: BTreeMap<String, TensorInfo>,
}

/// Where a tensor lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorInfo {
    /// Dimensions, outermost first.
    pub shape: Vec<usize>,
    /// How its numbers are stored.
    pub encoding: Encoding,
    offset: u64,
    length: u64,
}

impl GgufFile {
    /// Opens a file and checks its header.
    ///
    /// # Errors
    /// When the file cannot be read, is no GGUF of version 2 or 3, or its header disagrees with the format, the file's length
    /// or the bounds.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let file = File::open(path).map_err(ModelError::io("read", path))?;
        let length = file.metadata().map_err(ModelError::io("read", path))?.len();
        let mut reader = Reader { from: BufReader::new(file), at: 0, length };
        let (metadata, tensors) =
            header(&mut reader).map_err(|detail| ModelError::Gguf { path: path.to_path_buf(), detail })?;
        Ok(Self { path: path.to_path_buf(), file: reader.from.into_inner(), metadata, tensors })
    }

    /// A metadata entry.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.metadata.get(key)
    }

    /// Where the tensor lies, if the file has it.
    pub fn info(&self, name: &str) -> Option<&TensorInfo> {
        self.tensors.get(name)
    }

    /// All tensors, in order of name.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &TensorInfo)> {
        self.tensors.iter().map(|(name, info)| (name.as_str(), info))
    }

    /// Reads a tensor as `f32`, row-major.
    ///
    /// # Errors
    /// When it is not there or the file cannot be read.
    pub fn read_f32(&mut self, name: &str) -> Result<Vec<f32>, ModelError> {
        let Some(info) = self.tensors.get(name) else {
            return Err(self.error(format!("the tensor {name} is missing")));
        };
        // The header was checked against the file's length, so this much is there.
        let mut bytes = vec![0; usize::try_from(info.length).unwrap_or_default()];
        self.file.seek(SeekFrom::Start(info.offset)).map_err(ModelError::io("read", &self.path))?;
        self.file.read_exact(&mut bytes).map_err(ModelError::io("read", &self.path))?;
        Ok(info.encoding.decode(&bytes))
    }

    /// An error about this file.
    pub(super) fn error(&self, detail: impl Into<String>) -> ModelError {
        ModelError::Gguf { path: self.path.clone(), detail: detail.into() }
    }
}

type Header = (BTreeMap<String, Value>, BTreeMap<String, TensorInfo>);

fn header(reader: &mut Reader) -> Result<Header, String> {
    if reader.bytes::<4>()? != *b"GGUF" {
        return Err("this is no GGUF file".to_owned());
    }
    let version = reader.u32()?;
    if !(2..=3).contains(&version) {
        return Err(format!("version {version} (or another byte order) is not supported, only 2 and 3"));
    }
    let tensor_count = bounded("tensors", reader.u64()?, TENSORS_MAX)?;
    let entries = bounded("metadata entries", reader.u64()?, ENTRIES_MAX)?;
    let mut metadata = BTreeMap::new();
    for _ in 0..entries {
        let key = reader.text(NAME_BYTES_MAX)?;
        let kind = reader.u32()?;
        let value = value(reader, kind).map_err(|detail| format!("metadata {key}: {detail}"))?;
        if metadata.insert(key.clone(), value).is_some() {
            return Err(format!("metadata {key} stands twice"));
        }
    }
    let mut places = Vec::new();
    for _ in 0..tensor_count {
        let name = reader.text(NAME_BYTES_MAX)?;
        let place = place(reader).map_err(|detail| format!("tensor {name}: {detail}"))?;
        places.push((name, place));
    }
    let alignment = match metadata.get("general.alignment") {
        None => ALIGNMENT_DEFAULT,
        Some(value) => {
            value.unsigned().filter(|n| n.is_power_of_two() && *n <= 1 << 20).ok_or("a strange alignment")?
        }
    };
    let data_start = reader.at.next_multiple_of(alignment);
    let mut tensors = BTreeMap::new();
    for (name, mut info) in places {
        let end = data_start.checked_add(info.offset).and_then(|offset| offset.checked_add(info.length));
        if end.is_none_or(|end| end > reader.length) {
            return Err(format!("tensor {name} ends beyond the file; was it downloaded whole?"));
        }
        info.offset += data_start;
        if tensors.insert(name.clone(), info).is_some() {
            return Err(format!("tensor {name} stands twice"));
        }
    }
    Ok((metadata, tensors))
}

/// Name of what is counted, the count, and the most there may be.
fn bounded(what: &str, count: u64, max: u64) -> Result<u64, String> {
    if count > max { Err(format!("{count} {what}, at most {max} are supported")) } else { Ok(count) }
}

/// A tensor's dimensions, type and offset from the beginning of the data.
fn place(reader: &mut Reader) -> Result<TensorInfo, String> {
    let dimensions = reader.u32()?;
    if !(1..=DIMENSIONS_MAX).contains(&dimensions) {
        return Err(format!("{dimensions} dimensions"));
    }
    let mut shape = Vec::new();
    for _ in 0..dimensions {
        shape.push(usize::try_from(reader.u64()?).map_err(|_| "is too large")?);
    }
    let code = reader.u32()?;
    let encoding = Encoding::of(code).ok_or_else(|| {
        format!("is stored as type {code}, which is not supported; {} are", Encoding::names().join(", "))
    })?;
    let offset = reader.u64()?;
    // The first dimension is the innermost, and blocks do not reach beyond a row.
    let row = shape.first().copied().unwrap_or_default();
    let elements = shape.iter().try_fold(1_usize, |n, d| n.checked_mul(*d)).ok_or("is too large")?;
    if !row.is_multiple_of(encoding.block_values()) {
        return Err(format!("rows of {row} are no whole blocks of {}", encoding.block_values()));
    }
    let length = (elements / encoding.block_values()).checked_mul(encoding.block_bytes()).ok_or("is too large")?;
    shape.reverse();
    Ok(TensorInfo { shape, encoding, offset, length: length as u64 })
}

fn value(reader: &mut Reader, kind: u32) -> Result<Value, String> {
    Ok(match kind {
        0 => Value::Integer(i128::from(reader.bytes::<1>()?[0])),
        1 => Value::Integer(i128::from(i8::from_le_bytes(reader.bytes()?))),
        2 => Value::Integer(i128::from(u16::from_le_bytes(reader.bytes()?))),
        3 => Value::Integer(i128::from(i16::from_le_bytes(reader.bytes()?))),
        4 => Value::Integer(i128::from(reader.u32()?)),
        5 => Value::Integer(i128::from(i32::from_le_bytes(reader.bytes()?))),
        6 => Value::Float(f64::from(f32::from_le_bytes(reader.bytes()?))),
        7 => Value::Flag(reader.bytes::<1>()?[0] != 0),
        8 => Value::Text(reader.text(TEXT_BYTES_MAX)?),
        9 => Value::Array(array(reader)?),
        10 => Value::Integer(i128::from(reader.u64()?)),
        11 => Value::Integer(i128::from(i64::from_le_bytes(reader.bytes()?))),
        12 => Value::Float(f64::from_le_bytes(reader.bytes()?)),
        _ => return Err(format!("type {kind} is not known")),
    })
}

fn array(reader: &mut Reader) -> Result<Array, String> {
    let kind = reader.u32()?;
    let items = bounded("items", reader.u64()?, ITEMS_MAX)?;
    let item_bytes = match kind {
        0 | 1 | 7 => 1,
        2 | 3 => 2,
        4..=6 => 4,
        // A text takes at least its length.
        8 | 10..=12 => 8,
        _ => return Err(format!("an array of type {kind} is not supported")),
    };
    reader.holds(items * item_bytes)?;
    if kind == 8 {
        return (0..items).map(|_| reader.text(TEXT_BYTES_MAX)).collect::<Result<_, _>>().map(Array::Texts);
    }
    if kind == 4 || kind == 5 {
        // Kinds of tokens, the only numbers that are read from an array.
        return (0..items).map(|_| reader.u32()).collect::<Result<_, _>>().map(Array::Numbers);
    }
    reader.skip(items * item_bytes)?;
    Ok(Array::Other)
}

/// The file with how much of it is left.
struct Reader {
    from: BufReader<File>,
    at: u64,
    length: u64,
}

impl Reader {
    /// Whether the header may go on for this many bytes.
    fn holds(&self, bytes: u64) -> Result<(), String> {
        let end = self.at.checked_add(bytes).filter(|end| *end <= self.length);
        let end = end.ok_or("the header goes on beyond the end of the file")?;
        if end > METADATA_BYTES_MAX { Err(format!("a header of over {METADATA_BYTES_MAX} bytes")) } else { Ok(()) }
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.holds(N as u64)?;
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes).map_err(|error| error.to_string())?;
        self.at += N as u64;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, String> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, String> {
        self.bytes().map(u64::from_le_bytes)
    }

    fn text(&mut self, max: u64) -> Result<String, String> {
        let length = bounded("bytes of a text", self.u64()?, max)?;
        self.holds(length)?;
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        self.from.read_exact(&mut bytes).map_err(|error| error.to_string())?;
        self.at += length;
        String::from_utf8(bytes).map_err(|_| "a text that is not UTF-8".to_owned())
    }

    fn skip(&mut self, bytes: u64) -> Result<(), String> {
        self.holds(bytes)?;
        let offset = i64::try_from(bytes).map_err(|error| error.to_string())?;
        self.from.seek_relative(offset).map_err(|error| error.to_string())?;
        self.at += bytes;
        Ok(())
    }
}
