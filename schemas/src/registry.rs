//! All schemas by fingerprint, and reading and writing of single objects with them.
//!
//! A single object is `c3 01`, the schema's fingerprint as eight little-endian bytes, and the datum. The invariants:
//! - what is written has the newest version of its family;
//! - what is read is brought to the newest version first, so that the types of the domain know one version only;
//! - a value is read whole: bytes missing or left over are errors, although the Avro library is lenient about the end of input.

use crate::error::CodecError;
use crate::fingerprint;
use crate::sources::{SOURCES, Source};
use crate::upcast::{Apply, STEPS, Step};
use apache_avro::Schema;
use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::types::Value;
use apache_avro::writer::datum::GenericDatumWriter;
use serde::{Serialize, de::DeserializeOwned};
use stash_domain::limits::{RECORD_BYTES_MAX, TRACES_PER_MODEL_MAX};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{LazyLock, Once};

/// Bytes the Avro library may allocate because a length in the input says so: twice a record, since a decoded list of ids (an
/// older version, read as generic values) is larger than its bytes.
pub const AVRO_ALLOCATION_BYTES_MAX: usize = 2 * RECORD_BYTES_MAX;

const _: () = assert!(TRACES_PER_MODEL_MAX * size_of::<Value>() <= AVRO_ALLOCATION_BYTES_MAX);

/// The first two bytes of a single object.
pub const MARKER: [u8; 2] = [0xc3, 0x01];

/// Bytes before the datum: the marker and the fingerprint.
pub const HEADER_BYTES: usize = 10;

/// Characters kept of the library's message when a value does not fit its schema.
const REASON_CHARS_MAX: usize = 200;

/// A schema file, parsed.
#[derive(Clone, Debug)]
pub struct ParsedSchema {
    /// The file.
    pub source: Source,
    /// The schema.
    pub schema: Schema,
    /// Its fingerprint.
    pub fingerprint: u64,
}

/// Parses schema files.
///
/// # Errors
/// [`CodecError::SchemaDefect`] naming the first file that is no valid schema.
pub fn parse(sources: &[Source]) -> Result<Vec<ParsedSchema>, CodecError> {
    sources
        .iter()
        .map(|source| {
            let defect =
                |error: String| CodecError::SchemaDefect(format!("{}/v{}: {error}", source.family, source.version));
            let json = serde_json::from_str(source.text).map_err(|error| defect(error.to_string()))?;
            let schema = Schema::parse(&json).map_err(|error| defect(error.to_string()))?;
            Ok(ParsedSchema { source: *source, schema, fingerprint: fingerprint::of(&json) })
        })
        .collect()
}

/// One version of one family, ready for use.
struct Entry<'s> {
    source: Source,
    fingerprint: u64,
    reader: GenericDatumReader<'s>,
    writer: GenericDatumWriter<'s>,
    /// How a value of this version becomes one of the next; none for the newest.
    next: Option<Next<'s>>,
}

struct Next<'s> {
    index: usize,
    schema: &'s Schema,
    apply: Option<Apply>,
}

/// A set of schemas.
pub struct Registry<'s> {
    entries: Vec<Entry<'s>>,
    by_fingerprint: HashMap<u64, usize>,
    newest: HashMap<&'static str, usize>,
}

/// An object whose schema is known but whose datum is still bytes.
#[derive(Clone, Copy)]
pub struct Object<'r, 's, 'b> {
    registry: &'r Registry<'s>,
    index: usize,
    datum: &'b [u8],
}

impl<'s> Registry<'s> {
    /// Builds a registry of these schemas and steps.
    ///
    /// # Errors
    /// [`CodecError::SchemaDefect`] when two schemas share a fingerprint, versions of a family do not count up from 1, or a
    /// step belongs to no version.
    pub fn new(schemas: &'s [ParsedSchema], steps: &[Step]) -> Result<Self, CodecError> {
        // Once for the process, before anything is read. Nothing else here uses the Avro library, so the first call wins.
        static LIMIT: Once = Once::new();
        LIMIT.call_once(|| {
            apache_avro::util::max_allocation_bytes(AVRO_ALLOCATION_BYTES_MAX);
        });

        let defect = |source: &Source, what: &str| {
            CodecError::SchemaDefect(format!("{}/v{}: {what}", source.family, source.version))
        };
        let mut registry = Self { entries: Vec::new(), by_fingerprint: HashMap::new(), newest: HashMap::new() };
        let mut steps: BTreeMap<_, _> = steps.iter().map(|step| ((step.family, step.to), step.apply)).collect();
        for (index, parsed) in schemas.iter().enumerate() {
            let source = parsed.source;
            let avro = |error: apache_avro::Error| defect(&source, &error.to_string());
            let earlier = registry.newest.insert(source.family, index);
            let version = earlier.map_or(1, |earlier| registry.entries[earlier].source.version.saturating_add(1));
            if source.version != version {
                return Err(defect(&source, "versions must count up from 1"));
            }
            if registry.by_fingerprint.insert(parsed.fingerprint, index).is_some() {
                return Err(defect(&source, "another schema has the same fingerprint"));
            }
            if let Some(earlier) = earlier {
                let apply = steps.remove(&(source.family, source.version));
                registry.entries[earlier].next = Some(Next { index, schema: &parsed.schema, apply });
            }
            registry.entries.push(Entry {
                source,
                fingerprint: parsed.fingerprint,
                reader: GenericDatumReader::builder(&parsed.schema).human_readable(false).build().map_err(avro)?,
                writer: GenericDatumWriter::builder(&parsed.schema).human_readable(false).build().map_err(avro)?,
                next: None,
            });
        }
        match steps.keys().next() {
            Some((family, to)) => Err(CodecError::SchemaDefect(format!("upcast step {family} to v{to} has no schema"))),
            None => Ok(registry),
        }
    }

    /// Appends a value to `out` as a single object in the newest version of its family.
    ///
    /// # Errors
    /// [`CodecError::Malformed`] when the value does not fit the schema, a fault of this program; `out` is then as before.
    pub fn write<T: Serialize>(&self, family: &'static str, value: &T, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let entry = self
            .newest
            .get(family)
            .map(|index| &self.entries[*index])
            .ok_or_else(|| CodecError::SchemaDefect(format!("no schema {family}")))?;
        let start = out.len();
        out.extend_from_slice(&MARKER);
        out.extend_from_slice(&entry.fingerprint.to_le_bytes());
        match entry.writer.write_ser(out, value) {
            Ok(_) => Ok(()),
            Err(error) => {
                out.truncate(start);
                // The message names types and fields, at worst a whole schema, of which the beginning will do.
                let reason = error.to_string().chars().take(REASON_CHARS_MAX).collect();
                Err(CodecError::Malformed { schema: family, reason })
            }
        }
    }

    /// Finds the schema of a single object.
    ///
    /// # Errors
    /// [`CodecError::NotSingleObject`], [`CodecError::Truncated`] within the header, [`CodecError::UnknownFingerprint`].
    pub fn open<'r, 'b>(&'r self, bytes: &'b [u8]) -> Result<Object<'r, 's, 'b>, CodecError> {
        let Some((marker, rest)) = bytes.split_first_chunk::<2>() else {
            return Err(CodecError::Truncated { schema: "header" });
        };
        if *marker != MARKER {
            return Err(CodecError::NotSingleObject);
        }
        let Some((fingerprint, datum)) = rest.split_first_chunk::<8>() else {
            return Err(CodecError::Truncated { schema: "header" });
        };
        let fingerprint = u64::from_le_bytes(*fingerprint);
        let index = self.by_fingerprint.get(&fingerprint).ok_or(CodecError::UnknownFingerprint(fingerprint))?;
        Ok(Object { registry: self, index: *index, datum })
    }
}

impl Object<'_, '_, '_> {
    /// The family of its schema.
    pub fn family(&self) -> &'static str {
        self.entry().source.family
    }

    /// The version it was written in.
    pub fn version(&self) -> u32 {
        self.entry().source.version
    }

    /// The value, in the newest version.
    ///
    /// # Errors
    /// [`CodecError::Truncated`], [`CodecError::TrailingBytes`], [`CodecError::Malformed`], [`CodecError::UpcastFailed`].
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, CodecError> {
        let entry = self.entry();
        if entry.next.is_none() {
            return whole(entry, self.datum, |datum| entry.reader.read_deser(datum));
        }
        // An older version takes the long way: generic value, steps, bytes of the newest version, and then the one way in.
        let (newest, value) = self.upcast()?;
        let mut bytes = Vec::new();
        newest
            .writer
            .write_value_ref(&mut bytes, &value)
            .map_err(|_| upcast_failed(newest, "the step left a value of another shape"))?;
        whole(newest, &bytes, |datum| newest.reader.read_deser(datum))
    }

    /// The value as it was written, in its own version.
    ///
    /// # Errors
    /// As [`Object::read`].
    pub fn read_as_written(&self) -> Result<Value, CodecError> {
        let entry = self.entry();
        whole(entry, self.datum, |datum| entry.reader.read_value(datum))
    }

    /// The value in the newest version, generic.
    ///
    /// # Errors
    /// As [`Object::read`].
    pub fn read_newest(&self) -> Result<Value, CodecError> {
        self.upcast().map(|(_, value)| value)
    }

    fn upcast(&self) -> Result<(&Entry<'_>, Value), CodecError> {
        let mut entry = self.entry();
        let mut value = self.read_as_written()?;
        while let Some(next) = &entry.next {
            entry = &self.registry.entries[next.index];
            value = value.resolve(next.schema).map_err(|_| upcast_failed(entry, "it does not resolve"))?;
            if let Some(apply) = next.apply {
                value = apply(value).map_err(|reason| upcast_failed(entry, reason))?;
            }
        }
        Ok((entry, value))
    }

    fn entry(&self) -> &Entry<'_> {
        &self.registry.entries[self.index]
    }
}

/// Runs a read that must use up all bytes and no more.
fn whole<T>(
    entry: &Entry<'_>,
    datum: &[u8],
    read: impl FnOnce(&mut Datum<'_>) -> Result<T, apache_avro::Error>,
) -> Result<T, CodecError> {
    let schema = entry.source.family;
    let bytes = datum.len();
    let mut datum = Datum { rest: datum, short: false };
    let value = read(&mut datum);
    if datum.short {
        return Err(CodecError::Truncated { schema });
    }
    // Where, but not what: the library's message may quote the content.
    let offset = bytes - datum.rest.len();
    let value =
        value.map_err(|_| CodecError::Malformed { schema, reason: format!("no such value at byte {offset}") })?;
    if datum.rest.is_empty() { Ok(value) } else { Err(CodecError::TrailingBytes { schema, bytes: datum.rest.len() }) }
}

/// The bytes of a datum. It remembers a read past the end, which the library's generic reader takes for a null.
struct Datum<'b> {
    rest: &'b [u8],
    short: bool,
}

impl io::Read for Datum<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let (now, rest) = self.rest.split_at(out.len().min(self.rest.len()));
        self.short |= now.is_empty() && !out.is_empty();
        out[..now.len()].copy_from_slice(now);
        self.rest = rest;
        Ok(now.len())
    }

    fn read_exact(&mut self, out: &mut [u8]) -> io::Result<()> {
        match self.rest.split_at_checked(out.len()) {
            Some((now, rest)) => {
                out.copy_from_slice(now);
                self.rest = rest;
                Ok(())
            }
            None => {
                self.short = true;
                Err(io::ErrorKind::UnexpectedEof.into())
            }
        }
    }
}

fn upcast_failed(entry: &Entry<'_>, reason: &'static str) -> CodecError {
    CodecError::UpcastFailed { schema: entry.source.family, version: entry.source.version, reason }
}

/// The schemas of this build.
///
/// # Errors
/// [`CodecError::SchemaDefect`] in a broken build.
pub fn registry() -> Result<&'static Registry<'static>, CodecError> {
    static PARSED: LazyLock<Result<Vec<ParsedSchema>, CodecError>> = LazyLock::new(|| parse(SOURCES));
    static REGISTRY: LazyLock<Result<Registry<'static>, CodecError>> =
        LazyLock::new(|| Registry::new(PARSED.as_ref().map_err(Clone::clone)?, STEPS));
    REGISTRY.as_ref().map_err(Clone::clone)
}
