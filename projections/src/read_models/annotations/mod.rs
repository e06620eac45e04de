//! `rm_annotations`: each annotation as it stands now. `rm_judgments`: which of them an import brought.

mod judgments;

use super::{Accepted, Tools, without_nul};
use crate::copy::CopyRows;
use crate::error::ApplyError;
use crate::fresh::Fresh;
use sqlx::PgConnection;
use stash_domain::annotation::AnnotationText;
use stash_domain::events::Event;
use stash_domain::ids::{AnnotationId, OwnerId, SubjectId, TraceId};
use stash_domain::sealed::{Opened, Sealed};
use stash_domain::time::Timestamp;
use stash_domain::views::annotation::{self, Annotation};
use stash_infra::seal::{self, Purpose};
use stash_infra::subject_keys::SubjectKey;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use uuid::Uuid;

pub(super) const DDL: &str = include_str!("table.sql");

/// Most plain bytes of an annotation's text: far above what the limits on comment, quote and note add up to.
const TEXT_BYTES_MAX: usize = 1024 * 1024;

type Key = (OwnerId, AnnotationId);

pub(super) async fn apply(tx: &mut PgConnection, batch: &[Accepted<'_>], tools: &Tools) -> Result<(), ApplyError> {
    // What an import brings is of any number, so it is folded by itself, between what comes before and after it.
    let mut rest = batch;
    while let Some(at) = rest.iter().position(|item| judgments::of(item).next().is_some()) {
        let (before, from) = rest.split_at(at);
        apply_events(tx, before, tools).await?;
        if let Some((item, after)) = from.split_first() {
            for event in judgments::of(item) {
                judgments::import(tx, item, event, tools).await?;
            }
            rest = after;
        }
    }
    apply_events(tx, rest, tools).await
}

/// Applies records that bring no judgments.
async fn apply_events(tx: &mut PgConnection, batch: &[Accepted<'_>], tools: &Tools) -> Result<(), ApplyError> {
    let touched: BTreeSet<Key> = batch
        .iter()
        .flat_map(|item| item.events().filter_map(|event| Some((item.record.owner_id, annotation::key(event)?))))
        .collect();
    let purged: Vec<(OwnerId, TraceId)> = batch.iter().flat_map(deleted_traces).collect();
    if touched.is_empty() && purged.is_empty() {
        return Ok(());
    }
    let mut rows = load(tx, &created_before(batch, &touched)).await?;
    let keys = text_keys(batch, tools).await?;
    for item in batch {
        for event in item.events() {
            step(&mut rows, item, event, &keys)?;
        }
    }
    purge(tx, &purged).await?;
    save(tx, &rows, &tools.fresh).await
}

/// Annotations that the batch does not create: only of these does an earlier row matter. A creation replaces whatever was.
fn created_before(batch: &[Accepted<'_>], touched: &BTreeSet<Key>) -> Vec<Key> {
    let created: BTreeSet<Key> = batch
        .iter()
        .flat_map(|item| {
            item.events().filter_map(|event| match event {
                Event::AnnotationCreated(event) => Some((item.record.owner_id, event.annotation_id)),
                _ => None,
            })
        })
        .collect();
    touched.difference(&created).copied().collect()
}

fn deleted_traces<'a>(item: &'a Accepted<'_>) -> impl Iterator<Item = (OwnerId, TraceId)> + 'a {
    item.events().filter_map(|event| match event {
        Event::TraceDeleted(event) => Some((item.record.owner_id, event.trace_id)),
        _ => None,
    })
}

/// Folds one event into the rows in memory. None stands for a row that is gone.
fn step(
    rows: &mut BTreeMap<Key, Option<Annotation>>,
    item: &Accepted<'_>,
    event: &Event,
    keys: &HashMap<(OwnerId, SubjectId), SubjectKey>,
) -> Result<(), ApplyError> {
    let owner = item.record.owner_id;
    if let Event::TraceDeleted(event) = event {
        for ((of, _), row) in rows.iter_mut() {
            if *of == owner && row.as_ref().is_some_and(|row| row.trace_id == event.trace_id) {
                *row = None;
            }
        }
        return Ok(());
    }
    let Some(id) = annotation::key(event) else { return Ok(()) };
    let text = match event {
        Event::AnnotationCreated(event) => open(event.text.as_ref(), keys.get(&(owner, event.subject_id)))?,
        Event::AnnotationChanged(event) => open(event.text.as_ref(), keys.get(&(owner, event.subject_id)))?,
        _ => Opened::Redacted,
    };
    let row = rows.entry((owner, id)).or_default();
    *row = annotation::fold(row.take(), event, text, item.context());
    Ok(())
}

fn open(sealed: Option<&Sealed>, key: Option<&SubjectKey>) -> Result<Opened<AnnotationText>, ApplyError> {
    let Some(sealed) = sealed else { return Ok(Opened::Clear(AnnotationText::default())) };
    let opened = seal::open(key, Purpose::ANNOTATION_TEXT, sealed, TEXT_BYTES_MAX)
        .map_err(|error| ApplyError::poison("annotation_text_damaged", error))?;
    let Opened::Clear(plain) = opened else { return Ok(Opened::Redacted) };
    let text =
        stash_schemas::decode_text(&plain).map_err(|error| ApplyError::poison("annotation_text_undecodable", error))?;
    Ok(Opened::Clear(AnnotationText {
        comment: text.comment.map(without_nul),
        quote: text.quote,
        label_error_note: text.label_error_note.map(without_nul),
        author_name: text.author_name.map(without_nul),
    }))
}

/// Keys of all texts in the batch, asked for once per owner.
async fn text_keys(
    batch: &[Accepted<'_>],
    tools: &Tools,
) -> Result<HashMap<(OwnerId, SubjectId), SubjectKey>, ApplyError> {
    let mut wanted: BTreeMap<OwnerId, BTreeSet<SubjectId>> = BTreeMap::new();
    for item in batch {
        for event in item.events() {
            let subject = match event {
                Event::AnnotationCreated(event) if event.text.is_some() => event.subject_id,
                Event::AnnotationChanged(event) if event.text.is_some() => event.subject_id,
                _ => continue,
            };
            wanted.entry(item.record.owner_id).or_default().insert(subject);
        }
    }
    let mut keys = HashMap::new();
    for (owner, subjects) in wanted {
        let subjects: Vec<SubjectId> = subjects.into_iter().collect();
        let found =
            tools.keys.get(owner, &subjects).await.map_err(|error| ApplyError::Unavailable(error.to_string()))?;
        keys.extend(found.into_iter().map(|(subject, key)| ((owner, subject), key)));
    }
    Ok(keys)
}

#[derive(sqlx::FromRow)]
struct Row {
    owner_id: Uuid,
    annotation_id: Uuid,
    trace_id: Uuid,
    step_id: Option<Uuid>,
    subject_id: Uuid,
    rating: Option<i16>,
    comment: Option<String>,
    quote: Option<String>,
    label_error: bool,
    label_error_note: Option<String>,
    redacted: bool,
    author_id: Uuid,
    author_name: Option<String>,
    source: Option<String>,
    created_at: i64,
    updated_at: i64,
    version: i64,
}

async fn load(tx: &mut PgConnection, wanted: &[Key]) -> Result<BTreeMap<Key, Option<Annotation>>, ApplyError> {
    if wanted.is_empty() {
        return Ok(BTreeMap::new());
    }
    let (owners, ids) = columns(wanted);
    let rows: Vec<Row> = sqlx::query_as(include_str!("load.sql")).bind(owners).bind(ids).fetch_all(tx).await?;
    rows.into_iter()
        .map(|row| {
            let quote = row.quote.map(|quote| serde_json::from_str(&quote)).transpose();
            let source = row.source.map(|source| serde_json::from_str(&source)).transpose();
            let text = AnnotationText {
                comment: row.comment,
                quote: quote.map_err(|_| ApplyError::damaged("rm_annotations.quote"))?,
                label_error_note: row.label_error_note,
                author_name: row.author_name,
            };
            let annotation = Annotation {
                id: row.annotation_id.into(),
                trace_id: row.trace_id.into(),
                step_id: row.step_id.map(Into::into),
                rating: row.rating.map(i32::from),
                subject_id: row.subject_id.into(),
                text,
                redacted: row.redacted,
                label_error: row.label_error,
                author_id: row.author_id.into(),
                source: source.map_err(|_| ApplyError::damaged("rm_annotations.source"))?,
                created_at: Timestamp(row.created_at),
                updated_at: Timestamp(row.updated_at),
                version: row.version.cast_unsigned(),
            };
            Ok(((row.owner_id.into(), row.annotation_id.into()), Some(annotation)))
        })
        .collect()
}

async fn purge(tx: &mut PgConnection, traces: &[(OwnerId, TraceId)]) -> Result<(), ApplyError> {
    if !traces.is_empty() {
        let owners: Vec<Uuid> = traces.iter().map(|(owner, _)| owner.0).collect();
        let ids: Vec<Uuid> = traces.iter().map(|(_, trace)| trace.0).collect();
        for statement in [include_str!("purge.sql"), include_str!("purge_judgments.sql")] {
            sqlx::query(statement).bind(&owners).bind(&ids).execute(&mut *tx).await?;
        }
    }
    Ok(())
}

async fn save(
    tx: &mut PgConnection,
    rows: &BTreeMap<Key, Option<Annotation>>,
    fresh: &Fresh,
) -> Result<(), ApplyError> {
    let gone: Vec<Key> = rows.iter().filter(|(_, row)| row.is_none()).map(|(key, _)| *key).collect();
    if !gone.is_empty() {
        let (owners, ids) = columns(&gone);
        sqlx::query(include_str!("delete.sql")).bind(owners).bind(ids).execute(&mut *tx).await?;
    }
    let kept = rows.iter().filter_map(|(key, row)| Some((key.0, row.as_ref()?)));
    let (added, kept): (Vec<_>, Vec<_>) = kept.partition(|(owner, row)| fresh.is_new(&(owner, row.id)));
    let mut copied = CopyRows::default();
    for (owner, row) in added {
        let (quote, source) = encoded(row)?;
        let text = &row.text;
        let begun = copied.row(row.trace_id.0).uuid(owner.0).uuid(row.id.0).uuid(row.trace_id.0);
        let begun = begun.maybe(row.step_id.as_ref().map(|id| id.0.as_bytes().as_slice())).uuid(row.subject_id.0);
        let begun = begun.maybe_short(rating(row)).maybe_text(text.comment.as_deref()).maybe_text(quote.as_deref());
        let begun = begun.flag(row.label_error).maybe_text(text.label_error_note.as_deref()).flag(row.redacted);
        let begun = begun.uuid(row.author_id.0).maybe_text(text.author_name.as_deref()).maybe_text(source.as_deref());
        begun.long(row.created_at.0).long(row.updated_at.0).long(row.version.cast_signed()).end()?;
    }
    copied.write(tx, include_str!("copy.sql")).await?;
    if kept.is_empty() {
        return Ok(());
    }
    let (mut quotes, mut sources) = (Vec::with_capacity(kept.len()), Vec::with_capacity(kept.len()));
    for (_, row) in &kept {
        let (quote, source) = encoded(row)?;
        quotes.push(quote);
        sources.push(source);
    }
    sqlx::query(include_str!("upsert.sql"))
        .bind(kept.iter().map(|(owner, _)| owner.0).collect::<Vec<_>>())
        .bind(kept.iter().map(|(_, row)| row.id.0).collect::<Vec<_>>())
        .bind(kept.iter().map(|(_, row)| row.trace_id.0).collect::<Vec<_>>())
        .bind(kept.iter().map(|(_, row)| row.step_id.map(|id| id.0)).collect::<Vec<_>>())
        .bind(kept.iter().map(|(_, row)| row.subject_id.0).collect::<Vec<_>>())
        .bind(kept.iter().map(|(_, row)| rating(row)).collect::<Vec<_>>())
        .bind(kept.iter().map(|(_, row)| row.text.comment.as_deref()).collect::<Vec<_>>())
        .bind(quotes)
        .bind(kept.iter().map(|(_, row)| row.label_error).collect::<Vec<_>>())
        .bind(kept.iter().map(|(_, row)| row.text.label_error_note.as_deref()).collect::<Vec<_>>())
        .bind(kept.iter().map(|(_, row)| row.redacted).collect::<Vec<_>>())
        .bind(kept.iter().map(|(_, row)| row.author_id.0).collect::<Vec<_>>())
        .bind(kept.iter().map(|(_, row)| row.text.author_name.as_deref()).collect::<Vec<_>>())
        .bind(sources)
        .bind(kept.iter().map(|(_, row)| row.created_at.0).collect::<Vec<_>>())
        .bind(kept.iter().map(|(_, row)| row.updated_at.0).collect::<Vec<_>>())
        .bind(kept.iter().map(|(_, row)| row.version.cast_signed()).collect::<Vec<_>>())
        .execute(tx)
        .await?;
    Ok(())
}

fn rating(row: &Annotation) -> Option<i16> {
    row.rating.and_then(|rating| i16::try_from(rating).ok())
}

/// Quote and source as they are kept.
fn encoded(row: &Annotation) -> Result<(Option<String>, Option<String>), ApplyError> {
    let quote = row.text.quote.as_ref().map(serde_json::to_string).transpose();
    let source = row.source.as_ref().map(serde_json::to_string).transpose();
    Ok((
        quote.map_err(|error| ApplyError::poison("quote_unwritable", error))?,
        source.map_err(|error| ApplyError::poison("source_unwritable", error))?,
    ))
}

fn columns(keys: &[Key]) -> (Vec<Uuid>, Vec<Uuid>) {
    keys.iter().map(|(owner, id)| (owner.0, id.0)).unzip()
}
