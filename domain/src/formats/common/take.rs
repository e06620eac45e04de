//! Takes a record apart: fields of the head are parsed, lists parsed or only located, objects inside opened.

use super::cursor::Cursor;
use super::decode::decoded;
use super::fault::{Fault, issue};
use super::record::{Bad, HeadField, Holds, RecordFormat};
use super::source::Place;
use crate::json::Json;
use crate::json::parse::make_room;
use crate::limits::{STEP_BYTES_MAX, TRACE_HEAD_BYTES_MAX};

/// One list of a record.
pub(crate) struct List {
    /// Its path, for messages.
    pub(crate) path: String,
    pub(crate) items: Items,
}

pub(crate) enum Items {
    /// Parsed already.
    Parsed(Vec<(Place, Json)>),
    /// To be read from here.
    At(Place),
    /// To be read from the string that stands here.
    InString(Place),
}

/// A record taken apart.
pub(crate) struct Parts {
    pub(crate) head: Vec<HeadField>,
    pub(crate) lists: Vec<Option<List>>,
    /// Bytes that the head may still have.
    pub(crate) head_bytes_left: usize,
}

/// Takes an object apart: fields of the head, lists, objects inside.
pub(crate) fn take_object<F: RecordFormat>(
    cursor: &mut Cursor<'_, '_>,
    path: &mut Vec<String>,
    parts: &mut Parts,
) -> Result<(), Fault> {
    cursor.expect(b"{")?;
    if cursor.peek()? == Some(b'}') {
        cursor.expect(b"}")?;
        return Ok(());
    }
    loop {
        path.push(key(cursor)?);
        let first = cursor.peek()?;
        match (F::holds(path), first) {
            (Holds::Inside, Some(b'{')) => take_object::<F>(cursor, path, parts)?,
            (Holds::Items(_), Some(b'n')) => cursor.skip()?,
            (Holds::Items(number), Some(b'[')) => take_list(cursor, number, path.join("."), parts)?,
            (Holds::Items(number), Some(b'"')) if F::LISTS_IN_STRINGS => {
                let place = cursor.place();
                cursor.skip()?;
                put_list(parts, number, List { path: path.join("."), items: Items::InString(place) }, place)?;
            }
            (Holds::Items(_), Some(_)) => {
                return Err(Fault::Bad(issue(cursor.place(), Bad::new(path.join("."), "must be an array")), false));
            }
            _ => {
                let begin = cursor.place().offset;
                let value = cursor.value(parts.head_bytes_left)?;
                let bytes = usize::try_from(cursor.place().offset - begin).unwrap_or(usize::MAX);
                parts.head_bytes_left = parts.head_bytes_left.saturating_sub(bytes);
                parts.head.push((path.clone(), value));
            }
        }
        path.pop();
        if cursor.expect(b",}")? == b'}' {
            return Ok(());
        }
    }
}

/// Parses a key and the colon behind it.
fn key(cursor: &mut Cursor<'_, '_>) -> Result<String, Fault> {
    cursor.peek()?;
    let place = cursor.place();
    let key = match cursor.value(TRACE_HEAD_BYTES_MAX)? {
        Json::Text(key) => key,
        _ => {
            return Err(Fault::Bad(
                issue(place, Bad::new("", "not valid JSON: expected a key in quotation marks")),
                false,
            ));
        }
    };
    cursor.expect(b":")?;
    Ok(key)
}

/// Takes a list: parsed now from memory, later from the source.
pub(crate) fn take_list(
    cursor: &mut Cursor<'_, '_>,
    number: usize,
    path: String,
    parts: &mut Parts,
) -> Result<(), Fault> {
    let place = cursor.place();
    let items = if matches!(cursor, Cursor::Stream(_)) {
        cursor.skip()?;
        Items::At(place)
    } else {
        let mut items = Vec::new();
        each_item(cursor, |_, place, item| {
            make_room(&mut items);
            items.push((place, item));
            Ok(())
        })?;
        Items::Parsed(items)
    };
    put_list(parts, number, List { path, items }, place)
}

fn put_list(parts: &mut Parts, number: usize, list: List, place: Place) -> Result<(), Fault> {
    let Some(slot) = parts.lists.get_mut(number).filter(|slot| slot.is_none()) else {
        let bad = Bad::new(list.path, "stands twice in the record; one of the two must go");
        return Err(Fault::Bad(issue(place, bad), false));
    };
    *slot = Some(list);
    Ok(())
}

/// Parses the items of an array that is encoded in a string.
pub(crate) fn items_in_string(cursor: &mut Cursor<'_, '_>, path: &str) -> Result<Vec<Json>, Fault> {
    cursor.peek()?;
    let place = cursor.place();
    let text = cursor.value(STEP_BYTES_MAX)?;
    match text.as_text().and_then(decoded) {
        Some(Json::List(items)) => Ok(items),
        _ => {
            Err(Fault::Bad(issue(place, Bad::new(path, "must be an array, or a string that holds one as JSON")), false))
        }
    }
}

/// Parses the items of an array one by one.
pub(crate) fn each_item(
    cursor: &mut Cursor<'_, '_>,
    mut take: impl FnMut(&mut Cursor<'_, '_>, Place, Json) -> Result<(), Fault>,
) -> Result<(), Fault> {
    cursor.expect(b"[")?;
    if cursor.peek()? == Some(b']') {
        cursor.expect(b"]")?;
        return Ok(());
    }
    loop {
        cursor.peek()?;
        let place = cursor.place();
        let item = cursor.value(STEP_BYTES_MAX)?;
        take(cursor, place, item)?;
        if cursor.expect(b",]")? == b']' {
            return Ok(());
        }
    }
}
