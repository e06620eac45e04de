//! Tells what a line of a rollout is, and collects what it brings.

use super::meta::Meta;
use super::{Origin, Piece, What, event, item, too_large};
use crate::formats::common::record::Bad;
use crate::formats::common::source::Place;
use crate::formats::common::time::timestamp;
use crate::formats::refused::refused;
use crate::json::{Json, Object, take_field};
use crate::limits::IMPORT_HELD_BYTES_MAX;
use crate::trace::Role;

/// Types of lines with a payload that hold nothing that was said, called or answered.
const SILENT: [&str; 6] = [
    "world_state",
    "inter_agent_communication_metadata",
    "token_usage_record",
    "retained_context",
    "security_risk_score",
    "realtime_item",
];

/// Whether lines of this type have a payload.
pub(super) fn is_envelope(kind: &str) -> bool {
    let speaking =
        ["session_meta", "response_item", "event_msg", "turn_context", "compacted", "inter_agent_communication"];
    speaking.contains(&kind) || SILENT.contains(&kind)
}

/// What a file has brought so far.
#[derive(Default)]
pub(super) struct Session {
    pub(super) meta: Meta,
    pub(super) pieces: Vec<Piece>,
    pub(super) warnings: Vec<(Place, Bad)>,
    /// What the file is instead of a rollout, by the look of its first line.
    pub(super) refused: Option<&'static str>,
    lines: u64,
    /// Kinds of lines and items that were warned of, so that each is named once.
    unknown: Vec<String>,
    held_bytes: usize,
}

/// Kinds that are unknown and named; more are passed over without a word.
const UNKNOWN_NAMED_MAX: usize = 50;

impl Session {
    /// Takes a line.
    pub(super) fn take(&mut self, place: Place, fields: Vec<(String, Json)>) -> Result<(), Bad> {
        let line = Json::Object(fields);
        if self.lines == 0 {
            self.refused = refused(&line);
        }
        self.lines += 1;
        let Json::Object(mut fields) = line else { return Ok(()) };
        let first_new = self.pieces.len();
        let has = |key: &str| fields.iter().any(|(name, _)| name == key);
        if has("payload") && has("type") {
            let kind = text(take_field(&mut fields, "type")).unwrap_or_default();
            let at = take_field(&mut fields, "timestamp").and_then(|recorded| timestamp(&recorded));
            match take_field(&mut fields, "payload") {
                Some(Json::Object(payload)) => self.payload(place, &kind, payload, at),
                _ => self.unknown(place, &kind),
            }
        } else if has("session") && has("items") {
            if let Some(Json::Object(session)) = take_field(&mut fields, "session") {
                self.meta.take(session);
            }
            if let Some(Json::List(items)) = take_field(&mut fields, "items") {
                for item in items {
                    if let Json::Object(item) = item {
                        self.item(place, item, None);
                    }
                }
            }
        } else if has("type") || has("role") {
            // Bare items bear no time that could be trusted.
            self.item(place, fields, None);
        } else if has("id") && has("timestamp") {
            self.meta.take(fields);
        } else if !has("record_type") {
            self.unknown(place, "");
        }
        self.held_bytes += self.pieces.iter().skip(first_new).map(Piece::bytes).sum::<usize>();
        if self.held_bytes > IMPORT_HELD_BYTES_MAX { Err(too_large()) } else { Ok(()) }
    }

    fn payload(&mut self, place: Place, kind: &str, mut payload: Vec<(String, Json)>, at: Option<String>) {
        match kind {
            "session_meta" => self.meta.take(payload),
            "turn_context" => self.meta.turn(payload),
            "response_item" => self.item(place, payload, at),
            "event_msg" => event::take(payload, at, &mut self.pieces),
            "compacted" => {
                let text = text(take_field(&mut payload, "message")).unwrap_or_default();
                let metadata = Object::of("compaction", true);
                self.pieces.push(Piece {
                    origin: Origin::Item,
                    at,
                    what: What::Text { role: Role::User, text, metadata },
                });
            }
            "inter_agent_communication" => {
                self.pieces.push(Piece { origin: Origin::Event, at, what: item::mail(payload) });
            }
            silent if SILENT.contains(&silent) => {}
            other => self.unknown(place, other),
        }
    }

    fn item(&mut self, place: Place, item: Vec<(String, Json)>, at: Option<String>) {
        if let Err(kind) = item::take(item, at, &mut self.pieces) {
            self.unknown(place, &kind);
        }
    }

    /// Names a kind of line or item that is passed over, once.
    fn unknown(&mut self, place: Place, kind: &str) {
        let kind: String = kind.chars().take(60).collect();
        if self.unknown.len() < UNKNOWN_NAMED_MAX && !self.unknown.contains(&kind) {
            let message = format!("lines and items of the unknown type {kind:?} were passed over; this is the first");
            self.warnings.push((place, Bad::new("", message)));
            self.unknown.push(kind);
        }
    }
}

/// The text, if it is one.
pub(super) fn text(value: Option<Json>) -> Option<String> {
    match value {
        Some(Json::Text(text)) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_bounded() {
        let place = Place { offset: 0, line: 1 };
        let line = || {
            vec![("role".to_owned(), Json::Text("user".to_owned())), ("content".to_owned(), Json::Text("x".to_owned()))]
        };
        let mut session = Session { held_bytes: IMPORT_HELD_BYTES_MAX - 300, ..Session::default() };
        session.take(place, line()).unwrap();
        assert_eq!(session.take(place, line()), Err(too_large()));
        assert!(too_large().message.contains("268435456 bytes"));
    }
}
