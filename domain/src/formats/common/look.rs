//! What an input looks like before it is parsed: a bounded sketch of a record, for telling formats apart.
//!
//! A sketch is JSON of the same shape with bounds on everything: containers deeper than [`LEVELS_MAX`] are empty, arrays hold
//! their first [`ITEMS_MAX`] items, objects their first [`KEYS_MAX`] fields, a text over [`TEXT_BYTES_MAX`] is empty, and of
//! all values together there are no more than [`VALUES_MAX`]. The kind of a value is always right. Damage ends a sketch;
//! parsing will name it.

use super::cursor::{Cursor, CursorError};
use crate::json::Json;

/// Levels of objects and arrays in a sketch. The type of a content block in a batch's answer stands at level 8:
/// `{"response":{"body":{"choices":[{"message":{"content":[{"type":…}]}}]}}}`.
const LEVELS_MAX: usize = 8;

/// Items of one array in a sketch: enough for a conversation to have come to its first tool call.
const ITEMS_MAX: usize = 64;

/// Fields of one object in a sketch.
const KEYS_MAX: usize = 64;

/// Bytes of a text in a sketch. Names and types are short; what is longer tells nothing about a format.
const TEXT_BYTES_MAX: usize = 256;

/// Values in a sketch, at about 100 bytes each with their keys.
const VALUES_MAX: usize = 4096;

/// The look of a record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Look {
    /// Whether the record is an array; `value` is then one of its elements. In detection each of the first ones is asked about
    /// on its own, elsewhere it is the first.
    pub(crate) array: bool,
    /// Whether that element is an array itself; `value` is then the element's first element.
    pub(crate) nested_array: bool,
    /// The sketch of the record, or of the element.
    pub(crate) value: Json,
}

impl Look {
    /// Whether it is an object with this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.value.get(key).is_some()
    }

    /// The value at a path of keys.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Json> {
        path.iter().try_fold(&self.value, |value, key| value.get(key))
    }

    /// The items of the array at a path; none if there is no array.
    pub(crate) fn items(&self, path: &[&str]) -> &[Json] {
        match self.at(path) {
            Some(Json::List(items)) => items,
            _ => &[],
        }
    }

    /// The looks of a whole sketch: itself, or one for each element of the array that it is.
    pub(crate) fn all_of(sketch: Json) -> Vec<Look> {
        let Json::List(elements) = sketch else {
            return vec![Self { array: false, nested_array: false, value: sketch }];
        };
        if elements.is_empty() {
            return vec![Self { array: true, nested_array: false, value: Json::Null }];
        }
        elements.into_iter().map(Self::of_element).collect()
    }

    fn of_element(element: Json) -> Look {
        match element {
            Json::List(inner) => {
                let value = inner.into_iter().next().unwrap_or(Json::Null);
                Self { array: true, nested_array: true, value }
            }
            value => Self { array: true, nested_array: false, value },
        }
    }
}

/// Looks at the outermost keys of what comes next, or of its first element, and goes back.
pub(crate) fn look(cursor: &mut Cursor<'_, '_>) -> Result<Look, CursorError> {
    cursor.peek()?;
    let (place, parts) = (cursor.place(), cursor.parts().left());
    let array = cursor.peek()? == Some(b'[');
    if array {
        cursor.expect(b"[")?;
    }
    let nested_array = array && cursor.peek()? == Some(b'[');
    let value = match cursor.peek()? {
        Some(b'{') => Sketcher::default().value(cursor, 1)?.0,
        _ => Json::Null,
    };
    cursor.seek(place)?;
    cursor.parts().put_back(parts);
    Ok(Look { array, nested_array, value })
}

/// The sketch of what comes next; the cursor stays where the sketch ends.
pub(crate) fn sketch(cursor: &mut Cursor<'_, '_>) -> Result<Json, CursorError> {
    Ok(Sketcher::default().value(cursor, LEVELS_MAX)?.0)
}

#[derive(Default)]
struct Sketcher {
    values: usize,
}

impl Sketcher {
    /// The next value, and whether the text goes on behind it undamaged.
    fn value(&mut self, cursor: &mut Cursor<'_, '_>, levels: usize) -> Result<(Json, bool), CursorError> {
        self.values += 1;
        let Some(first) = undamaged(cursor.peek())? else { return Ok((Json::Null, false)) };
        let place = cursor.place();
        match first {
            Some(b'{') if levels > 0 => {
                let mut fields = Vec::new();
                let whole = undamaged(self.fields(cursor, levels - 1, &mut fields))?;
                Ok((Json::Object(fields), whole == Some(true)))
            }
            Some(b'[') if levels > 0 => {
                let mut items = Vec::new();
                let whole = undamaged(self.items(cursor, levels - 1, &mut items))?;
                Ok((Json::List(items), whole == Some(true)))
            }
            Some(b'{') => Ok((Json::Object(Vec::new()), undamaged(cursor.skip())?.is_some())),
            Some(b'[') => Ok((Json::List(Vec::new()), undamaged(cursor.skip())?.is_some())),
            _ => match cursor.value(TEXT_BYTES_MAX) {
                Err(CursorError::TooLarge { .. }) => {
                    cursor.seek(place)?;
                    Ok((Json::Text(String::new()), undamaged(cursor.skip())?.is_some()))
                }
                value => Ok(undamaged(value)?.map_or((Json::Null, false), |value| (value, true))),
            },
        }
    }

    /// Sketches fields until the object ends or is damaged; whether it ended.
    fn fields(
        &mut self,
        cursor: &mut Cursor<'_, '_>,
        levels: usize,
        fields: &mut Vec<(String, Json)>,
    ) -> Result<bool, CursorError> {
        cursor.expect(b"{")?;
        if cursor.peek()? == Some(b'}') {
            cursor.expect(b"}")?;
            return Ok(true);
        }
        loop {
            let Json::Text(key) = cursor.value(TEXT_BYTES_MAX)? else { return Ok(false) };
            cursor.expect(b":")?;
            if fields.len() < KEYS_MAX && self.values < VALUES_MAX {
                let (value, whole) = self.value(cursor, levels)?;
                fields.push((key, value));
                if !whole {
                    return Ok(false);
                }
            } else {
                cursor.skip()?;
            }
            if cursor.expect(b",}")? == b'}' {
                return Ok(true);
            }
        }
    }

    /// Sketches items until the array ends or is damaged; whether it ended.
    fn items(
        &mut self,
        cursor: &mut Cursor<'_, '_>,
        levels: usize,
        items: &mut Vec<Json>,
    ) -> Result<bool, CursorError> {
        cursor.expect(b"[")?;
        if cursor.peek()? == Some(b']') {
            cursor.expect(b"]")?;
            return Ok(true);
        }
        loop {
            if items.len() < ITEMS_MAX && self.values < VALUES_MAX {
                let (value, whole) = self.value(cursor, levels)?;
                items.push(value);
                if !whole {
                    return Ok(false);
                }
            } else {
                cursor.skip()?;
            }
            if cursor.expect(b",]")? == b']' {
                return Ok(true);
            }
        }
    }
}

/// What was read, or none where the text is damaged.
fn undamaged<T>(read: Result<T, CursorError>) -> Result<Option<T>, CursorError> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error @ CursorError::Io(_)) => Err(error),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::common::source::Source;

    fn sketched(text: &str) -> String {
        let mut input = std::io::Cursor::new(text.as_bytes());
        let mut source = Source::new(&mut input).unwrap();
        sketch(&mut Cursor::stream(&mut source, u64::MAX)).unwrap().compact()
    }

    #[test]
    fn small_values_are_shown_whole() {
        let text = r#"{"a":[1,{"type":"text","b":null}],"c":"d"}"#;
        assert_eq!(sketched(text), text);
    }

    #[test]
    fn every_bound_keeps_the_kind_of_a_value() {
        let long = format!(r#"{{"a":"{}","b":1}}"#, "x".repeat(TEXT_BYTES_MAX));
        assert_eq!(sketched(&long), r#"{"a":"","b":1}"#);
        let deep = format!("{}{{\"a\":1}}{}", "[".repeat(LEVELS_MAX), "]".repeat(LEVELS_MAX));
        assert_eq!(sketched(&deep), deep.replace("\"a\":1", ""));
        let many = format!("[{}0]", "0,".repeat(1000));
        assert_eq!(sketched(&many).matches('0').count(), ITEMS_MAX);
        let row = format!("[{}0]", "0,".repeat(ITEMS_MAX));
        let rows = format!("[{}0]", format!("[{row}0],").repeat(ITEMS_MAX));
        assert!(sketched(&rows).len() < 2 * VALUES_MAX + 2 * ITEMS_MAX * 3);
    }

    #[test]
    fn damage_ends_a_sketch() {
        assert_eq!(sketched(r#"{"a":1,"b":[2,oops"#), r#"{"a":1,"b":[2,null]}"#);
        assert_eq!(sketched(r#"{"a":1,b"#), r#"{"a":1}"#);
        assert_eq!(sketched(""), "null");
    }
}
