//! Parses JSON text into [`Json`] and counts its parts before memory is taken for them.
//!
//! A part takes memory however short its text is: `[[],[],…]` held as values is 20 times its text, `[{"":0},…]` 16 times.
//! So a text may have so many parts as are in proportion to its bytes, and [`JSON_PARTS_FREE`] beside. Text that people
//! record is far from it: an array of numbers of three digits keeps within the proportion at any length.

use super::written::{Json, NUMBER_KEY, PRIVATE_KEYS};
use crate::limits::{JSON_BYTES_PER_PART, JSON_PARTS_FREE};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use std::cell::Cell;
use std::fmt;

/// What an object counts as, its fields not counted; each key counts as 1 beside its value.
pub(crate) const OBJECT_PARTS: usize = 4;

/// What an array counts as, its items not counted.
pub(crate) const LIST_PARTS: usize = 2;

/// Parts that may still come.
#[derive(Debug)]
pub(crate) struct Parts {
    left: Cell<usize>,
    exceeded: Cell<bool>,
}

impl Parts {
    /// For a text of so many bytes.
    pub(crate) fn of(bytes: usize) -> Self {
        Self::new(JSON_PARTS_FREE.saturating_add(bytes / JSON_BYTES_PER_PART))
    }

    fn new(parts: usize) -> Self {
        Self { left: Cell::new(parts), exceeded: Cell::new(false) }
    }

    /// How many are left; see [`Self::put_back`].
    pub(crate) fn left(&self) -> usize {
        self.left.get()
    }

    /// Makes it as many again as there once were: what was read since is not held.
    pub(crate) fn put_back(&self, left: usize) {
        self.left.set(left);
    }

    /// Takes so many; false, from then on, if there are not as many left.
    pub(crate) fn take(&self, parts: usize) -> bool {
        match self.left.get().checked_sub(parts) {
            Some(left) => {
                self.left.set(left);
                true
            }
            None => {
                self.left.set(0);
                self.exceeded.set(true);
                false
            }
        }
    }
}

/// What is said of a text with more parts than it may have.
pub(crate) fn too_many_parts() -> String {
    format!(
        "the value has too many parts for its size: one is allowed for each {JSON_BYTES_PER_PART} bytes, and \
         {JSON_PARTS_FREE} beside (a key, text, number, boolean or null is one, an array {LIST_PARTS}, an object \
         {OBJECT_PARTS}); write what is so dense as text, or split it"
    )
}

/// Why a text is no value.
#[derive(Debug)]
pub(crate) struct Unparsed {
    /// What is wrong.
    pub(crate) message: String,
    /// At which byte; 0 where it is not known.
    pub(crate) at: usize,
    /// Whether the text merely ends too early.
    pub(crate) truncated: bool,
    /// Whether it has too many parts.
    pub(crate) too_many_parts: bool,
}

/// The first value of a text, and its length with what is before it.
pub(crate) fn first_value(text: &str, parts: &Parts) -> Result<(Json, usize), Unparsed> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    match Counted(parts).deserialize(&mut deserializer) {
        Ok(value) => {
            let length = deserializer.into_iter::<IgnoredAny>().byte_offset();
            // Text, arrays and objects end by themselves.
            let ends = matches!(value, Json::Text(_) | Json::List(_) | Json::Object(_))
                || text.as_bytes().get(length).is_none_or(|byte| b" \n\t\r\"[]{},:".contains(byte));
            if ends {
                return Ok((value, length));
            }
            let message = "not valid JSON: trailing characters".to_owned();
            Err(Unparsed { message, at: length, truncated: false, too_many_parts: false })
        }
        Err(_) if parts.exceeded.get() => {
            Err(Unparsed { message: too_many_parts(), at: 0, truncated: false, too_many_parts: true })
        }
        Err(error) if error.is_eof() && text.trim_ascii_start().is_empty() => {
            let message = "the JSON ends too early".to_owned();
            Err(Unparsed { message, at: text.len(), truncated: true, too_many_parts: false })
        }
        Err(error) => {
            let before: usize =
                text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
            let at = (before + error.column().saturating_sub(1)).min(text.len());
            let full = error.to_string();
            let message = full.rsplit_once(" at line ").map_or(full.as_str(), |(message, _)| message);
            let message = format!("not valid JSON: {message}");
            Err(Unparsed { message, at, truncated: error.is_eof(), too_many_parts: false })
        }
    }
}

/// The value that a text is; none if it is no JSON, or has too many parts for its size and is better kept as text.
pub(crate) fn whole_value(text: &str) -> Option<Json> {
    value_of_text(text).ok()
}

/// The value that a text is.
pub(crate) fn value_of_text(text: &str) -> Result<Json, Unparsed> {
    whole(serde_json::Deserializer::from_str(text), text.len())
}

/// The value that bytes are.
pub(crate) fn value_of_bytes(bytes: &[u8]) -> Result<Json, Unparsed> {
    whole(serde_json::Deserializer::from_slice(bytes), bytes.len())
}

fn whole<'de, R: serde_json::de::Read<'de>>(
    mut deserializer: serde_json::Deserializer<R>,
    bytes: usize,
) -> Result<Json, Unparsed> {
    let parts = Parts::of(bytes);
    let value = Counted(&parts).deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    value.map_err(|error| {
        let too_many_parts = parts.exceeded.get();
        let message = if too_many_parts { self::too_many_parts() } else { error.to_string() };
        Unparsed { message, at: 0, truncated: error.is_eof(), too_many_parts }
    })
}

impl<'de> Deserialize<'de> for Json {
    /// Without a bound: for what was counted when it was first read.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Counted(&Parts::new(usize::MAX)).deserialize(deserializer)
    }
}

/// Reads any value, counting.
#[derive(Clone, Copy)]
struct Counted<'p>(&'p Parts);

impl Counted<'_> {
    fn count<E: serde::de::Error>(self, parts: usize) -> Result<(), E> {
        if self.0.take(parts) { Ok(()) } else { Err(E::custom("too many parts")) }
    }
}

impl<'de> DeserializeSeed<'de> for Counted<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Counted<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Json, E> {
        self.count(1)?;
        Ok(Json::Null)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Json, E> {
        self.count(1)?;
        Ok(Json::Bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Json, E> {
        self.count(1)?;
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Json, E> {
        self.count(1)?;
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Json, E> {
        self.count(1)?;
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Json, E> {
        self.count(1)?;
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_string<E: serde::de::Error>(self, text: String) -> Result<Json, E> {
        self.count(1)?;
        Ok(Json::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        self.count(LIST_PARTS)?;
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self)? {
            make_room(&mut items);
            items.push(item);
        }
        // Room is made for four at first, which of a short list takes several times what it holds.
        items.shrink_to_fit();
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut fields: Vec<(String, Json)> = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            match (fields.is_empty(), key == NUMBER_KEY) {
                // A number counts as its digits do.
                (true, true) => {}
                (true, false) => self.count(OBJECT_PARTS + 1)?,
                (false, _) => self.count(1)?,
            }
            let value = map.next_value_seed(self)?;
            make_room(&mut fields);
            fields.push((key, value));
        }
        if fields.is_empty() {
            self.count(OBJECT_PARTS)?;
        }
        // This is how serde_json hands over a number. An object that a person wrote in this form becomes one too.
        if let [(key, Json::Text(digits))] = fields.as_slice()
            && key == NUMBER_KEY
            && let Ok(number) = digits.parse()
        {
            return Ok(Json::Number(number));
        }
        // Any other object with such a key would be misread wherever it is read again, so the key changes.
        for (key, _) in fields.iter_mut().filter(|(key, _)| key.starts_with(PRIVATE_KEYS)) {
            key.insert(0, '_');
        }
        fields.shrink_to_fit();
        Ok(Json::Object(fields))
    }
}

/// Items from which on a list grows by a quarter and not by as much again: it would be half empty when it has just grown.
const GROWS_SLOWLY: usize = 1024;

/// Makes room for one more value where there is none.
pub(crate) fn make_room<T>(items: &mut Vec<T>) {
    if items.len() == items.capacity() && items.len() >= GROWS_SLOWLY {
        items.reserve_exact(items.len() / 4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(item: &str, bytes: usize) -> String {
        format!("[{}{item}]", format!("{item},").repeat(bytes / (item.len() + 1)))
    }

    #[test]
    fn values_as_people_record_them_pass_at_any_length() {
        let numbers: Vec<String> = (0..100_000).map(|n| format!("-0.{n:06}")).collect();
        for text in [
            format!("[{}]", numbers.join(",")),
            array("0", 200_000),
            array("0.1", 8 << 20),
            array(r#"{"x":12.5,"y":30.25,"width":100,"height":20}"#, 8 << 20),
            array(r#"{"role":"user","content":"a word"}"#, 8 << 20),
            array(r#"{"id":123,"v":4}"#, 1 << 20),
            array(r#"["key",12,null,true]"#, 2 << 20),
        ] {
            assert!(whole_value(&text).is_some(), "{}", &text[..100]);
            assert_eq!(first_value(&text, &Parts::of(text.len())).unwrap().1, text.len());
        }
    }

    #[test]
    fn dense_values_are_refused_before_they_take_memory() {
        for item in ["[]", "{}", "[[]]", r#"{"":0}"#, r#"{"a":{}}"#, "0", r#""""#] {
            let text = array(item, 8 << 20);
            assert!(whole_value(&text).is_none(), "{item}");
            assert!(value_of_bytes(text.as_bytes()).unwrap_err().too_many_parts, "{item}");
            let refused = first_value(&text, &Parts::of(text.len())).unwrap_err();
            assert!(refused.too_many_parts && !refused.truncated, "{item}: {refused:?}");
            let parts = Parts::of(text.len());
            let _ = first_value(&text, &parts);
            assert_eq!(parts.left.get(), 0, "{item}");
        }
    }

    #[test]
    fn the_first_value_ends_where_it_ends() {
        let parts = Parts::of(100);
        for (text, expected) in
            [("[1] x", Some(3)), (" 12,3", Some(3)), ("12x", None), ("nullx", None), (r#""a"b"#, Some(3))]
        {
            assert_eq!(first_value(text, &parts).ok().map(|(_, length)| length), expected, "{text}");
        }
        assert!(first_value(" ", &parts).unwrap_err().truncated);
        assert_eq!(first_value("{\n\"a\" 1}", &parts).unwrap_err().at, 6);
    }
}
