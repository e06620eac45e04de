//! Python literals: what `repr` makes of dicts, lists, tuples, strings, numbers, `None`, `True` and `False`.

use crate::json::Json;
use crate::json::parse::{LIST_PARTS, OBJECT_PARTS, Parts};

/// Nesting of literals that are read.
const DEPTH_MAX: usize = 64;

/// The value of a text that is one whole literal.
pub(super) fn literal(text: &str) -> Option<Json> {
    let mut parser = Parser { rest: text, parts: Parts::of(text.len()) };
    let value = parser.value(DEPTH_MAX)?;
    parser.space();
    parser.rest.is_empty().then_some(value)
}

/// The string literal that a text begins with.
pub(super) fn string(text: &str) -> Option<String> {
    Parser { rest: text, parts: Parts::of(text.len()) }.string()
}

struct Parser<'t> {
    rest: &'t str,
    /// Parts that the literal may still have.
    parts: Parts,
}

impl Parser<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, token: &str) -> bool {
        self.space();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        let depth = depth.checked_sub(1)?;
        self.space();
        let first = self.rest.chars().next()?;
        let parts = match first {
            '{' => OBJECT_PARTS,
            '[' | '(' => LIST_PARTS,
            _ => 1,
        };
        if !self.parts.take(parts) {
            return None;
        }
        match first {
            '{' => self.dict(depth),
            '[' => self.items("[", "]", depth),
            '(' => self.items("(", ")", depth),
            '\'' | '"' => self.string().map(Json::Text),
            _ => self.word(),
        }
    }

    fn items(&mut self, open: &str, close: &str, depth: usize) -> Option<Json> {
        self.take(open);
        let mut items = Vec::new();
        loop {
            if self.take(close) {
                return Some(Json::List(items));
            }
            items.push(self.value(depth)?);
            if !self.take(",") {
                return self.take(close).then_some(Json::List(items));
            }
        }
    }

    fn dict(&mut self, depth: usize) -> Option<Json> {
        self.take("{");
        let mut fields = Vec::new();
        loop {
            if self.take("}") {
                return Some(Json::Object(fields));
            }
            let key = match self.value(depth)? {
                Json::Text(key) => key,
                scalar @ (Json::Number(_) | Json::Bool(_) | Json::Null) => scalar.compact(),
                _ => return None,
            };
            if !self.take(":") {
                return None;
            }
            fields.push((key, self.value(depth)?));
            if !self.take(",") {
                return self.take("}").then_some(Json::Object(fields));
            }
        }
    }

    fn word(&mut self) -> Option<Json> {
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-._".contains(c)));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let value = match word {
            "None" | "null" => Json::Null,
            "True" | "true" => Json::Bool(true),
            "False" | "false" => Json::Bool(false),
            number => match serde_json::from_str::<Json>(number).ok()? {
                number @ Json::Number(_) => number,
                _ => return None,
            },
        };
        self.rest = rest;
        Some(value)
    }

    fn string(&mut self) -> Option<String> {
        let mut characters = self.rest.chars();
        let quote = characters.next().filter(|quote| matches!(quote, '\'' | '"'))?;
        let mut text = String::new();
        loop {
            match characters.next()? {
                end if end == quote => break,
                '\\' => match characters.next()? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'x' => text.push(code(&mut characters, 2)?),
                    'u' => text.push(code(&mut characters, 4)?),
                    'U' => text.push(code(&mut characters, 8)?),
                    '\n' => {}
                    other @ ('\\' | '\'' | '"') => text.push(other),
                    other => {
                        text.push('\\');
                        text.push(other);
                    }
                },
                other => text.push(other),
            }
        }
        self.rest = characters.as_str();
        Some(text)
    }
}

fn code(characters: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let text: String = characters.take(digits).collect();
    if text.len() != digits {
        return None;
    }
    Some(char::from_u32(u32::from_str_radix(&text, 16).ok()?).unwrap_or('\u{FFFD}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        literal(text).map(|json| json.compact())
    }

    #[test]
    fn literals_are_read_whole_or_not_at_all() {
        assert_eq!(
            read(r#"[{'role': 'user', "content": "it's", 'n': None, 'ok': True, 'x': (1, -2.5,)}]"#).as_deref(),
            Some(r#"[{"role":"user","content":"it's","n":null,"ok":true,"x":[1,-2.5]}]"#)
        );
        assert_eq!(read(r"{'a': 'l\nm\'\x41\u00e9'}").as_deref(), Some("{\"a\":\"l\\nm'Aé\"}"));
        for text in ["{'a'}", "[1, 2", "[Message(content='x')]", "[1] and more", "{'a': b}", "['a' 'b']", "[nan]"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read(&"[".repeat(10_000)), None);
    }
}
