//! Observations by themselves, gathered to traces.

use crate::formats::common::record::Bad;
use crate::formats::common::source::Place;
use crate::json::Json;
use crate::limits::IMPORT_HELD_BYTES_MAX;
use std::collections::HashMap;

/// Whether it is an observation, or a score, that says of which trace it is.
pub(super) fn is_row(object: &Json) -> bool {
    object.get("traceId").and_then(Json::as_text).is_some() && (object.get("type").is_some() || is_score(object))
}

fn is_score(object: &Json) -> bool {
    object.get("name").is_some() && object.get("value").is_some() && object.get("startTime").is_none()
}

/// Rows by trace, in the order in which the traces were first met.
#[derive(Default)]
pub(super) struct Rows {
    places: HashMap<String, usize>,
    traces: Vec<Gathered>,
    bytes: usize,
}

struct Gathered {
    id: String,
    place: Place,
    observations: Vec<Json>,
    scores: Vec<Json>,
}

impl Rows {
    pub(super) fn take(&mut self, place: Place, row: Json) -> Result<(), Bad> {
        self.bytes = self.bytes.saturating_add(row.bytes_held());
        if self.bytes > IMPORT_HELD_BYTES_MAX {
            return Err(Bad::new(
                "",
                format!(
                    "the observations up to here take more than {IMPORT_HELD_BYTES_MAX} bytes, and any of them may belong to \
                     the same trace; export whole traces, or fewer of them at a time"
                ),
            ));
        }
        let id = row.get("traceId").and_then(Json::as_text).unwrap_or("").to_owned();
        let at = *self.places.entry(id.clone()).or_insert(self.traces.len());
        if at == self.traces.len() {
            self.traces.push(Gathered { id, place, observations: Vec::new(), scores: Vec::new() });
        }
        if let Some(trace) = self.traces.get_mut(at) {
            if is_score(&row) { trace.scores.push(row) } else { trace.observations.push(row) }
        }
        Ok(())
    }

    /// Each trace as a record, and where its first row stands.
    pub(super) fn traces(self) -> impl Iterator<Item = (Place, Json)> {
        self.traces.into_iter().map(|mut trace| {
            // Newer rows carry what is known of their trace.
            let mut of_trace = |name: &str, keys: &[&str]| {
                let mut rows = trace.observations.iter_mut();
                let found = rows.find_map(|row| keys.iter().find_map(|key| row.take(key)));
                (name.to_owned(), found.unwrap_or(Json::Null))
            };
            let mut fields = vec![
                of_trace("name", &["traceName"]),
                of_trace("sessionId", &["sessionId"]),
                of_trace("userId", &["userId"]),
                of_trace("tags", &["tags", "traceTags"]),
            ];
            fields.push(("id".to_owned(), Json::Text(trace.id)));
            fields.push(("observations".to_owned(), Json::List(trace.observations)));
            fields.push(("scores".to_owned(), Json::List(trace.scores)));
            (trace.place, Json::Object(fields))
        })
    }
}
