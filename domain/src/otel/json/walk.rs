//! Walks envelopes of OTLP: of each only one span or log record is held as JSON at a time.
//!
//! ```text
//! {"resourceSpans": [{"resource": …, "scopeSpans": [{"scope": …, "spans": [span, …]}]}]}
//! {"resourceLogs":  [{"resource": …, "scopeLogs":  [{"scope": …, "logRecords": [record, …]}]}]}
//! ```
//!
//! A resource or scope may stand behind what it is the resource or scope of, so spans get their context when both have ended.

use super::any_value::named;
use super::folded;
use super::row::{is_row, row};
use super::{log, span};
use crate::formats::common::cursor::Cursor;
use crate::formats::common::fault::{Fault, issue};
use crate::formats::common::look::look;
use crate::formats::common::record::Bad;
use crate::formats::common::source::Place;
use crate::formats::common::take::each_item;
use crate::formats::{ISSUES_LISTED_MAX, Issue, ReadError};
use crate::json::Json;
use crate::limits::{STEP_BYTES_MAX, TRACE_HEAD_BYTES_MAX};
use crate::otel::{Attributes, OtelLog, OtelSpan};

/// Levels of arrays in which envelopes are looked for.
const ARRAYS_MAX: u32 = 2;

/// What was met so far.
pub(crate) struct Walk {
    /// Spans, in their order, each with where it stands.
    pub(crate) spans: Vec<OtelSpan>,
    /// Where each of them stands.
    pub(crate) places: Vec<Place>,
    /// Log records that belong to a span.
    pub(crate) logs: Vec<OtelLog>,
    /// Spans left out, the first ones.
    pub(crate) faults: Vec<Issue>,
    /// Spans left out in all.
    pub(crate) faults_count: u64,
    /// Log records that belong to no span, or tell of no messages.
    pub(crate) logs_ignored: u64,
    /// Whether there were signals that say nothing of a trace.
    pub(crate) other_signals: bool,
    signals: bool,
    /// Bytes of spans and log records that may still come.
    bytes_left: usize,
    bytes_max: usize,
}

/// How far a walk has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    spans: usize,
    logs: usize,
    faults: usize,
    faults_count: u64,
    logs_ignored: u64,
    other_signals: bool,
    signals: bool,
}

/// The part of an envelope that is walked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Signal {
    Spans,
    Logs,
}

/// What came of one scope: where its spans and records begin, and what it is.
struct Scope {
    spans: usize,
    logs: usize,
    name: String,
    version: String,
    attributes: Attributes,
}

impl Walk {
    /// Spans and records of at most so many bytes, as JSON.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            spans: Vec::new(),
            places: Vec::new(),
            logs: Vec::new(),
            faults: Vec::new(),
            faults_count: 0,
            logs_ignored: 0,
            other_signals: false,
            signals: false,
            bytes_left: bytes_max,
            bytes_max,
        }
    }

    /// Whether any signal of OTLP was there.
    pub(crate) fn recognised(&self) -> bool {
        self.signals || self.other_signals
    }

    /// Whether there were spans or log records, if only empty lists of them.
    pub(crate) fn has_signals(&self) -> bool {
        self.signals
    }

    /// Where it is, to come back to; see [`Walk::back_to`].
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            spans: self.spans.len(),
            logs: self.logs.len(),
            faults: self.faults.len(),
            faults_count: self.faults_count,
            logs_ignored: self.logs_ignored,
            other_signals: self.other_signals,
            signals: self.signals,
        }
    }

    /// Forgets what was met since a mark.
    pub(crate) fn back_to(&mut self, mark: Mark) {
        self.spans.truncate(mark.spans);
        self.places.truncate(mark.spans);
        self.logs.truncate(mark.logs);
        self.faults.truncate(mark.faults);
        self.faults_count = mark.faults_count;
        self.logs_ignored = mark.logs_ignored;
        self.other_signals = mark.other_signals;
        self.signals = mark.signals;
    }

    /// Takes the next value: an envelope, a row, or an array of them.
    pub(crate) fn value(&mut self, cursor: &mut Cursor<'_, '_>) -> Result<(), Fault> {
        self.value_in(cursor, ARRAYS_MAX)
    }

    fn value_in(&mut self, cursor: &mut Cursor<'_, '_>, arrays_left: u32) -> Result<(), Fault> {
        match (cursor.peek()?, arrays_left.checked_sub(1)) {
            (Some(b'{'), _) => self.object(cursor),
            (Some(b'['), Some(left)) => elements(cursor, |cursor| self.value_in(cursor, left)),
            _ => {
                let message = "expected an object of OTLP, such as {\"resourceSpans\": [...]}";
                Err(Fault::Bad(issue(cursor.place(), Bad::new("", message)), false))
            }
        }
    }

    fn object(&mut self, cursor: &mut Cursor<'_, '_>) -> Result<(), Fault> {
        let start = cursor.place();
        let seen = look(cursor)?;
        if is_row(&seen.value) {
            self.signals = true;
            let recorded = cursor.value(STEP_BYTES_MAX)?;
            self.count_bytes(cursor, start)?;
            match row(recorded) {
                Ok(span) => self.push_span(span, start),
                Err(message) => self.fault(start, message),
            }
            return Ok(());
        }
        let Json::Object(keys) = &seen.value else { return Ok(cursor.skip()?) };
        if !keys.iter().any(|(key, _)| folded(key).starts_with("resource")) {
            let message = "neither resourceSpans nor resourceLogs are there";
            return Err(Fault::Bad(issue(start, Bad::new("", message)), false));
        }
        fields(cursor, |cursor, key| match folded(key).as_str() {
            "resourcespans" => self.resources(cursor, Signal::Spans),
            "resourcelogs" => self.resources(cursor, Signal::Logs),
            "resourcemetrics" | "resourceprofiles" => {
                self.other_signals = true;
                Ok(cursor.skip()?)
            }
            _ => Ok(cursor.skip()?),
        })
    }

    fn resources(&mut self, cursor: &mut Cursor<'_, '_>, signal: Signal) -> Result<(), Fault> {
        self.signals = true;
        elements(cursor, |cursor| {
            let mut resource = Attributes::default();
            let mut scopes = Vec::new();
            fields(cursor, |cursor, key| match folded(key).as_str() {
                "resource" => {
                    resource = attributes_of(cursor.value(TRACE_HEAD_BYTES_MAX)?);
                    Ok(())
                }
                "scopespans" | "instrumentationlibraryspans" | "scopelogs" | "instrumentationlibrarylogs" => {
                    elements(cursor, |cursor| self.scope(cursor, signal, &mut scopes))
                }
                _ => Ok(cursor.skip()?),
            })?;
            self.set_context(cursor, &resource, scopes)
        })
    }

    fn scope(&mut self, cursor: &mut Cursor<'_, '_>, signal: Signal, scopes: &mut Vec<Scope>) -> Result<(), Fault> {
        let (spans, logs) = (self.spans.len(), self.logs.len());
        let (name, version, attributes) = (String::new(), String::new(), Attributes::default());
        let mut scope = Scope { spans, logs, name, version, attributes };
        fields(cursor, |cursor, key| match folded(key).as_str() {
            "scope" | "instrumentationlibrary" => {
                let recorded = cursor.value(TRACE_HEAD_BYTES_MAX)?;
                let text = |key: &str| recorded.get(key).and_then(Json::as_text).unwrap_or("").to_owned();
                (scope.name, scope.version) = (text("name"), text("version"));
                scope.attributes = attributes_of(recorded);
                Ok(())
            }
            "spans" if signal == Signal::Spans => self.items(cursor, |walk, place, item| match span::span(item) {
                Ok(span) => walk.push_span(span, place),
                Err(message) => walk.fault(place, message),
            }),
            "logrecords" | "logs" if signal == Signal::Logs => {
                self.items(cursor, |walk, _, item| match log::log(item) {
                    Some(mut log) if log.is_generative() => {
                        log.sequence = u32::try_from(walk.logs.len()).unwrap_or(u32::MAX);
                        walk.logs.push(log);
                    }
                    _ => walk.logs_ignored += 1,
                })
            }
            _ => Ok(cursor.skip()?),
        })?;
        // One that says nothing is not held: there may be a hundred thousand of them.
        if scope.spans < self.spans.len() || scope.logs < self.logs.len() {
            scopes.push(scope);
        }
        Ok(())
    }

    fn items(
        &mut self,
        cursor: &mut Cursor<'_, '_>,
        mut take: impl FnMut(&mut Self, Place, Json),
    ) -> Result<(), Fault> {
        if cursor.peek()? == Some(b'n') {
            return Ok(cursor.skip()?);
        }
        each_item(cursor, |cursor, place, item| {
            self.count_bytes(cursor, place)?;
            take(self, place, item);
            Ok(())
        })
    }

    fn count_bytes(&mut self, cursor: &mut Cursor<'_, '_>, start: Place) -> Result<(), Fault> {
        let bytes = usize::try_from(cursor.place().offset.saturating_sub(start.offset)).unwrap_or(usize::MAX);
        match self.bytes_left.checked_sub(bytes) {
            Some(left) => self.bytes_left = left,
            None => {
                let message = format!(
                    "the input holds more than {} MiB of spans and log records, which are put in order in memory; split it \
                     so that each part holds whole traces",
                    self.bytes_max >> 20
                );
                return Err(Fault::Fatal(ReadError::Input(issue(start, Bad::new("", message)))));
            }
        }
        Ok(())
    }

    fn push_span(&mut self, span: OtelSpan, place: Place) {
        self.spans.push(span);
        self.places.push(place);
    }

    fn fault(&mut self, place: Place, message: String) {
        self.faults_count += 1;
        if self.faults.len() < ISSUES_LISTED_MAX {
            self.faults.push(issue(place, Bad::new("", message)));
        }
    }

    fn set_context(
        &mut self,
        cursor: &mut Cursor<'_, '_>,
        resource: &Attributes,
        scopes: Vec<Scope>,
    ) -> Result<(), Fault> {
        let resource = Attributes::small(resource);
        let mut scopes = scopes.into_iter().peekable();
        while let Some(scope) = scopes.next() {
            let next = scopes.peek().map_or((self.spans.len(), self.logs.len()), |next| (next.spans, next.logs));
            let spans = self.spans.get_mut(scope.spans..next.0).unwrap_or_default();
            let logs = self.logs.get_mut(scope.logs..next.1).unwrap_or_default();
            if spans.is_empty() && logs.is_empty() {
                continue;
            }
            let context = Attributes::context(resource.clone(), &scope.name, &scope.version, scope.attributes);
            cursor.count_parts(context.parts().saturating_mul(spans.len() + logs.len()))?;
            spans.iter_mut().for_each(|span| span.context = context.clone());
            logs.iter_mut().for_each(|log| log.context = context.clone());
        }
        Ok(())
    }
}

/// The attributes of a resource or scope.
fn attributes_of(recorded: Json) -> Attributes {
    let Json::Object(fields) = recorded else { return Attributes::default() };
    fields.into_iter().find(|(key, _)| folded(key) == "attributes").map(|(_, value)| named(value)).unwrap_or_default()
}

/// Walks the fields of an object; `take` goes past each value. Null counts as an object without fields.
fn fields(
    cursor: &mut Cursor<'_, '_>,
    mut take: impl FnMut(&mut Cursor<'_, '_>, &str) -> Result<(), Fault>,
) -> Result<(), Fault> {
    if cursor.peek()? == Some(b'n') {
        return Ok(cursor.skip()?);
    }
    cursor.expect(b"{")?;
    if cursor.peek()? == Some(b'}') {
        cursor.expect(b"}")?;
        return Ok(());
    }
    loop {
        cursor.peek()?;
        let place = cursor.place();
        let Json::Text(key) = cursor.value(TRACE_HEAD_BYTES_MAX)? else {
            let message = "not valid JSON: expected a key in quotation marks";
            return Err(Fault::Bad(issue(place, Bad::new("", message)), false));
        };
        cursor.expect(b":")?;
        cursor.peek()?;
        take(cursor, &key)?;
        if cursor.expect(b",}")? == b'}' {
            return Ok(());
        }
    }
}

/// Walks the elements of an array; `take` goes past each. Null counts as an empty one.
fn elements(
    cursor: &mut Cursor<'_, '_>,
    mut take: impl FnMut(&mut Cursor<'_, '_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    if cursor.peek()? == Some(b'n') {
        return Ok(cursor.skip()?);
    }
    cursor.expect(b"[")?;
    if cursor.peek()? == Some(b']') {
        cursor.expect(b"]")?;
        return Ok(());
    }
    loop {
        take(cursor)?;
        if cursor.expect(b",]")? == b']' {
            return Ok(());
        }
    }
}
