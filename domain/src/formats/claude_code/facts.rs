//! What is known of a session as a whole: its title, its models, where it ran.

use super::entry::text;
use super::lines::Span;
use super::names::{Name, Names};
use crate::formats::common::record::Bad;
use crate::json::{Json, Object, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Characters of a title or another fact; a longer one is no fact.
const FACT_CHARS_MAX: usize = 4096;

/// Different models, and different tags, of one session.
const DIFFERENT_MAX: usize = 100;

/// Facts of a line that are kept as they are, in `metadata.extra`. The first line that has one gives it.
const EXTRA: [&str; 6] = ["cwd", "version", "gitBranch", "entrypoint", "teamName", "agentName"];

/// Facts found so far.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Whether any line names a session.
    pub(super) has_session: bool,
    custom_title: Option<String>,
    ai_title: Option<String>,
    /// Summaries: the line that each is of, and where it stands.
    pub(super) summaries: Vec<(Name, Span)>,
    tags: Vec<String>,
    /// Messages whose model is counted already.
    counted: BTreeSet<Name>,
    /// Messages of each model, and its rank by first use.
    models: BTreeMap<String, (u64, usize)>,
    extra: Object,
}

fn fact(line: &Json, key: &str) -> Option<String> {
    let text = text(line, key)?.trim();
    let fits = text.char_indices().nth(FACT_CHARS_MAX).is_none();
    (fits && !text.is_empty()).then(|| text.to_owned())
}

impl Facts {
    /// Takes what any line says of the session.
    pub(super) fn line(&mut self, line: &Json, span: Span, names: &mut Names) -> Result<(), Bad> {
        self.has_session |= text(line, "sessionId").is_some();
        match text(line, "type").unwrap_or("") {
            "custom-title" => self.custom_title = fact(line, "customTitle").or(self.custom_title.take()),
            "ai-title" => {
                let title = fact(line, "aiTitle").or_else(|| fact(line, "title"));
                self.ai_title = title.or(self.ai_title.take());
            }
            "summary" => {
                if let Some(leaf) = text(line, "leafUuid") {
                    if self.summaries.len() >= crate::limits::SESSION_LINES_MAX {
                        return Err(Bad::new("", "the file has too many summaries; split it"));
                    }
                    self.summaries.push((names.of(leaf)?, span));
                }
            }
            "tag" => {
                if let Some(tag) = fact(line, "tag").filter(|tag| !self.tags.contains(tag))
                    && self.tags.len() < DIFFERENT_MAX
                {
                    self.tags.push(tag);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes what a line of the conversation says.
    pub(super) fn message(&mut self, line: &Json, id: Option<Name>) {
        for key in EXTRA {
            if !self.extra.contains_key(key)
                && let Some(fact) = fact(line, key)
            {
                self.extra.insert(key, fact);
            }
        }
        let Some(model) = line.get("message").and_then(|message| fact(message, "model")) else { return };
        if id.is_some_and(|id| !self.counted.insert(id)) {
            return;
        }
        let rank = self.models.len();
        if rank < DIFFERENT_MAX || self.models.contains_key(&model) {
            self.models.entry(model).or_insert((0, rank)).0 += 1;
        }
    }

    /// Takes over what another took of the conversation.
    pub(super) fn take_messages(&mut self, other: Facts) {
        self.models = other.models;
        self.extra = other.extra;
    }

    /// The title that was given, by the person before the agent.
    pub(super) fn title(&self) -> Option<&String> {
        self.custom_title.as_ref().or(self.ai_title.as_ref())
    }

    /// The title in a summary line.
    pub(super) fn summary_title(line: &Json) -> Option<String> {
        fact(line, "summary")
    }

    /// Metadata of the trace; `more` goes beside the facts that have no name of their own.
    pub(super) fn metadata(&self, session: Option<&str>, more: Object) -> Object {
        let mut metadata = Object::of("agent", "claude-code");
        let most = self.models.iter().max_by_key(|(_, (count, rank))| (*count, std::cmp::Reverse(*rank)));
        if let Some((model, _)) = most {
            metadata.insert("model", model.as_str());
        }
        if let Some(session) = session {
            metadata.insert("session", session);
        }
        if !self.tags.is_empty() {
            metadata.insert("tags", self.tags.iter().map(|tag| tag.as_str().into()).collect::<Value>());
        }
        let mut extra = self.extra.clone();
        extra.append(more);
        if !extra.is_empty() {
            metadata.insert("extra", extra);
        }
        metadata
    }
}
