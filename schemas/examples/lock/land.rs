//! The work of `lock`, over a folder: so that its test can give it one of its own.

use apache_avro::types::Value;
use stash_schemas::gates::fingerprint::{self, Landed, read_lock};
use stash_schemas::gates::{SchemaFile, golden, sample};
use stash_schemas::registry::{ParsedSchema, Registry, parse};
use stash_schemas::sources::Source;
use stash_schemas::upcast::STEPS;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;

/// Brings the lock and the golden files under `root` up to date with the schema files there; says what it wrote.
///
/// # Errors
/// What is wrong, one line each; nothing landed was changed.
pub(crate) fn run(root: &Path) -> Result<Vec<String>, Vec<String>> {
    let sources = read_sources(root).map_err(|error| vec![error])?;
    let lock_path = root.join("registry.lock");
    let lock_text = if lock_path.exists() { fs::read_to_string(&lock_path).map_err(one)? } else { String::new() };
    let lock = read_lock(&lock_text).map_err(one)?;

    let landed: BTreeSet<&str> = lock.iter().map(|landed| landed.path.as_str()).collect();
    let files: Vec<SchemaFile<'_>> = sources.iter().map(SchemaFile::from).collect();
    let (old, new): (Vec<_>, Vec<_>) = files.iter().copied().partition(|file| landed.contains(file.path().as_str()));
    let faults = fingerprint::check(&old, &lock);
    if !faults.is_empty() {
        return Err(faults.iter().map(ToString::to_string).collect());
    }
    let mut with_new = lock.clone();
    for file in &new {
        with_new.push(Landed::of(file).map_err(one)?);
    }
    let faults = fingerprint::check(&files, &with_new);
    if !faults.is_empty() {
        return Err(faults.iter().map(ToString::to_string).collect());
    }

    let parsed = parse(&sources).map_err(one)?;
    let families: BTreeSet<&str> = sources.iter().map(|source| source.family).collect();
    let steps: Vec<_> = STEPS.iter().copied().filter(|step| families.contains(step.family)).collect();
    let registry = Registry::new(&parsed, &steps).map_err(one)?;

    let mut written = Vec::new();
    for landed in &with_new[lock.len()..] {
        let Some(schema) = parsed.iter().find(|parsed| SchemaFile::from(&parsed.source).path() == landed.path) else {
            continue;
        };
        let bytes = sample_of(&parsed, schema).map_err(|error| vec![format!("{}: {error}", landed.path)])?;
        let value = registry.open(&bytes).and_then(|object| object.read_as_written()).map_err(one)?;
        let folder = root.join("golden").join(schema.source.family);
        fs::create_dir_all(&folder).map_err(one)?;
        for (suffix, content) in [("avro", bytes), ("json", pretty(&value)?)] {
            let path = folder.join(format!("v{}.{suffix}", schema.source.version));
            let file = fs::File::create_new(&path).and_then(|mut file| file.write_all(&content));
            file.map_err(|error| vec![format!("{}: {error}", path.display())])?;
            written.push(path.display().to_string());
        }
        let mut file = fs::OpenOptions::new().append(true).create(true).open(&lock_path).map_err(one)?;
        writeln!(file, "{}", landed.line()).map_err(one)?;
        written.push(format!("registry.lock: {}", landed.line()));
    }
    written.extend(write_upcasts(root, &registry, &sources)?);
    Ok(written)
}

/// How older versions read today. These are expectations about the steps, not history: they are written anew, for review.
fn write_upcasts(root: &Path, registry: &Registry<'_>, sources: &[Source]) -> Result<Vec<String>, Vec<String>> {
    let mut written = Vec::new();
    for source in sources {
        if !sources.iter().any(|other| other.family == source.family && other.version > source.version) {
            continue;
        }
        let path = root.join("golden").join(source.family).join(format!("v{}", source.version));
        let bytes = fs::read(path.with_extension("avro")).map_err(one)?;
        let value = registry.open(&bytes).and_then(|object| object.read_newest()).map_err(one)?;
        let (path, content) = (path.with_extension("upcast.json"), pretty(&value)?);
        if fs::read(&path).ok().as_deref() != Some(&content[..]) {
            fs::write(&path, content).map_err(one)?;
            written.push(path.display().to_string());
        }
    }
    Ok(written)
}

/// A sample of a schema as a single object. A record must hold what the domain knows: its kinds are real and its event is one.
fn sample_of(all: &[ParsedSchema], schema: &ParsedSchema) -> Result<Vec<u8>, String> {
    let text = |text: &str| Some(Value::String(text.to_owned()));
    let newest_event = all.iter().rev().find(|parsed| parsed.source.family == "annotation_created");
    let event = match newest_event {
        Some(event) if schema.source.family == "record" => sample_of(all, event)?,
        _ => Vec::new(),
    };
    let in_record = |path: &str| match path {
        "actor.kind" => text("api_key"),
        "appends.stream.kind" => text("annotation"),
        "appends.events" => Some(Value::Array(vec![Value::Bytes(event.clone())])),
        _ => None,
    };
    let as_it_comes = |_: &str| None;
    let value = match schema.source.family {
        "record" => sample::sample(&schema.schema, &in_record)?,
        _ => sample::sample(&schema.schema, &as_it_comes)?,
    };
    sample::object(&schema.schema, schema.fingerprint, &value)
}

/// All schema files, by family and version. Their texts live as long as the program, which is short.
fn read_sources(root: &Path) -> Result<Vec<Source>, String> {
    let mut sources = Vec::new();
    for folder in fs::read_dir(root).map_err(|error| error.to_string())? {
        let folder = folder.map_err(|error| error.to_string())?.path();
        if !folder.is_dir() {
            continue;
        }
        let family = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        for file in fs::read_dir(&folder).map_err(|error| error.to_string())? {
            let file = file.map_err(|error| error.to_string())?.path();
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let Some(version) = name.strip_prefix('v').and_then(|name| name.strip_suffix(".avsc")) else { continue };
            let version = version.parse().map_err(|_| format!("{}: no version number", file.display()))?;
            let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            sources.push(Source { family: family.clone().leak(), version, text: text.leak() });
        }
    }
    sources.sort_by_key(|source| (source.family, source.version));
    Ok(sources)
}

fn pretty(value: &Value) -> Result<Vec<u8>, Vec<String>> {
    let mut text = serde_json::to_vec_pretty(&golden::to_json(value)).map_err(one)?;
    text.push(b'\n');
    Ok(text)
}

fn one(error: impl ToString) -> Vec<String> {
    vec![error.to_string()]
}
