//! The texts of pairs, rendered as a model reads them and written as parts of a JSON string.
//!
//! A target may stand in many pairs, so small texts are kept: at most [`TEXT_BYTES_KEPT`] each and [`KEPT_BYTES_MAX`] together,
//! the first that come. A longer text is never held whole; its segments are written as they are rendered.

use super::targets::Place;
use crate::body::{BodyError, Writer};
use crate::content::{Steps, domain_step};
use sqlx::PgConnection;
use stash_domain::ids::OwnerId;
use stash_domain::rendering::{Form, render_step};
use std::collections::HashMap;

/// Bytes of a text that is kept, escaped.
const TEXT_BYTES_KEPT: usize = 256 * 1024;

/// Bytes of all texts that are kept.
const KEPT_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Writes texts of targets.
pub(super) struct Texts {
    owner: OwnerId,
    places: Vec<Place>,
    kept: HashMap<usize, String>,
    kept_bytes: usize,
}

impl Texts {
    /// The texts at these places.
    pub(super) fn of(owner: OwnerId, places: Vec<Place>) -> Self {
        Self { owner, places, kept: HashMap::new(), kept_bytes: 0 }
    }

    /// Where a target's text is.
    pub(super) fn place(&self, target: usize) -> Place {
        self.places[target]
    }

    /// Writes a target's text as a JSON string.
    ///
    /// # Errors
    /// Those of the database and of the answer.
    pub(super) async fn write(
        &mut self,
        target: usize,
        connection: &mut PgConnection,
        writer: &mut Writer,
    ) -> Result<(), BodyError> {
        writer.raw("\"");
        match self.kept.get(&target) {
            Some(text) => writer.raw(text),
            None => self.render(target, connection, writer).await?,
        }
        writer.raw("\"");
        writer.pause().await
    }

    async fn render(
        &mut self,
        target: usize,
        connection: &mut PgConnection,
        writer: &mut Writer,
    ) -> Result<(), BodyError> {
        let place = self.place(target);
        let mut steps = Steps::of(self.owner, [(place.trace_id, place.steps)]);
        // What is written so far, as long as it may be kept.
        let mut whole = Some(String::new());
        let mut first = true;
        loop {
            let piece = steps.next(connection).await?;
            if piece.is_empty() {
                break;
            }
            for (_, step) in piece {
                let Some(segment) = render_step(&domain_step(step)?, Form::ChatMl) else { continue };
                let joined = if std::mem::take(&mut first) { segment } else { format!("\n{segment}") };
                let escaped = serde_json::to_string(&joined)?;
                let escaped = &escaped[1..escaped.len() - 1];
                writer.raw(escaped);
                whole = whole.filter(|text| text.len() + escaped.len() <= TEXT_BYTES_KEPT).map(|text| text + escaped);
                writer.pause().await?;
            }
        }
        if let Some(text) = whole
            && self.kept_bytes + text.len() <= KEPT_BYTES_MAX
        {
            self.kept_bytes += text.len();
            self.kept.insert(target, text);
        }
        Ok(())
    }
}
