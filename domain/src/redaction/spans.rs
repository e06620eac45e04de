//! Redaction of spans and log records that are sent live, before anything of them is kept.
//!
//! All their texts are gone over, JSON in text as the JSON that it is, so that what is escaped there is found too and what is put in
//! its place leaves it valid. Names of spans, events and attributes stay, as ids do.

use super::{Counts, Redactor};
use crate::json::Json;
use crate::json::parse::whole_value;
use crate::otel::{Attributes, Context, OtelLog, OtelSpan};

impl Redactor {
    /// Redacts spans and log records.
    pub fn otel(&self, spans: &mut [OtelSpan], logs: &mut [OtelLog], counts: &mut Counts) {
        if self.is_empty() {
            return;
        }
        // Where spans come from is shared by those that come from there.
        let mut last: Option<(Context, Context)> = None;
        for span in spans {
            self.attributes(&mut span.attributes, counts);
            span.events.iter_mut().for_each(|event| self.attributes(&mut event.attributes, counts));
            self.text(&mut span.status.message, counts);
            self.context(&mut span.context, &mut last, counts);
        }
        for log in logs {
            self.attributes(&mut log.attributes, counts);
            self.json(&mut log.body, counts);
            self.context(&mut log.context, &mut last, counts);
        }
    }

    fn context(&self, context: &mut Context, last: &mut Option<(Context, Context)>, counts: &mut Counts) {
        if let Some((before, after)) = last
            && Context::ptr_eq(before, context)
        {
            *context = after.clone();
            return;
        }
        let mut attributes = context.as_ref().clone();
        self.attributes(&mut attributes, counts);
        let after = Context::new(attributes);
        *last = Some((context.clone(), after.clone()));
        *context = after;
    }

    fn attributes(&self, attributes: &mut Attributes, counts: &mut Counts) {
        attributes.0.iter_mut().for_each(|(_, value)| self.json(value, counts));
    }

    /// As deep as the reader of the JSON went, which bounds its depth.
    fn json(&self, value: &mut Json, counts: &mut Counts) {
        match value {
            Json::Text(text) => self.json_text(text, counts),
            Json::List(items) => items.iter_mut().for_each(|item| self.json(item, counts)),
            Json::Object(fields) => fields.iter_mut().for_each(|(_, value)| self.json(value, counts)),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    fn json_text(&self, text: &mut String, counts: &mut Counts) {
        let is_json = text.trim_start().starts_with(['[', '{']);
        if is_json && !self.may_find_in_json(text) {
            return;
        }
        let Some(mut value) = is_json.then(|| whole_value(text)).flatten() else {
            return self.text(text, counts);
        };
        let found = |counts: &Counts| counts.values().sum::<u64>();
        let before = found(counts);
        self.json(&mut value, counts);
        if found(counts) > before {
            *text = value.compact();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::otel::{OtelSpanId, OtelTraceId};

    #[test]
    fn texts_are_gone_over_also_in_json_and_shared_context() {
        let redactor = Redactor::new(&[], &["s[3e]cret\n1".to_owned(), "sesame".to_owned()]).unwrap();
        let ids = (OtelTraceId::from_bytes(&[1; 16]).unwrap(), OtelSpanId::from_bytes(&[2; 8]).unwrap());
        let mut span = OtelSpan::new(ids.0, ids.1);
        span.name = "sesame".to_owned();
        let messages = r#"[{"role": "user", "parts": [{"content": "my secret\n1 is {\"a\": \"sesame\"}"}]}]"#;
        let text = |name: &str, value: &str| (name.to_owned(), Json::Text(value.to_owned()));
        span.attributes = Attributes(vec![text("gen_ai.input.messages", messages), text("sesame", "[sesame")]);
        span.context = Context::new(Attributes(vec![text("process.command", "run sesame")]));
        let mut spans = [span.clone(), span];
        let mut counts = Counts::new();
        redactor.otel(&mut spans, &mut [], &mut counts);
        assert_eq!(spans[0], spans[1]);
        let value = |name: &str| spans[0].attributes.text(name).unwrap().to_owned();
        let content =
            r#"[{"role":"user","parts":[{"content":"my [redacted:pattern] is {\"a\": \"[redacted:pattern]\"}"}]}]"#;
        assert_eq!(value("gen_ai.input.messages"), content);
        assert_eq!(value("sesame"), "[[redacted:pattern]");
        assert_eq!(spans[0].context.text("process.command"), Some("run [redacted:pattern]"));
        assert_eq!(spans[0].name, "sesame");
    }
}
