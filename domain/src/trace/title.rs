//! Titles: given with a trace, or derived from its first user message, until a person or a language model
//! ([`titling`](crate::titling)) gives it another.

use super::{Role, Step};
use crate::ids::Digest;
use serde::{Deserialize, Serialize};

/// Characters of a derived title, the ellipsis included.
pub const TITLE_CHARS_MAX: usize = 80;

/// The title of a trace that has no message to derive one from.
pub const UNTITLED: &str = "Untitled trace";

/// Where a title comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TitleSource {
    /// It came with the trace. It is exported, so that a round trip keeps it.
    Given,
    /// A person wrote it here. It stands whatever else there is, and is exported as a given one.
    Edited,
    /// A language model wrote it. It stands for as long as the first user message is the same, and is not exported.
    Generated,
    /// Shortened from the first user message. It is not exported: it would come back as a given one.
    Derived,
}

impl TitleSource {
    /// The name, as in frames, tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Edited => "edited",
            Self::Generated => "generated",
            Self::Derived => "derived",
        }
    }
}

/// Finds the title of a trace whose steps go by one after another.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Titler {
    #[serde(rename = "g", default, skip_serializing_if = "Option::is_none")]
    given: Option<String>,
    /// The first user message that a person wrote.
    #[serde(rename = "w", default, skip_serializing_if = "Option::is_none")]
    written: Option<String>,
    /// The first user message of any kind.
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    any: Option<String>,
    /// Digest of the message that the derived title is from.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    basis: Option<Digest>,
}

impl Titler {
    /// Starts a trace, with the title that came with it.
    pub fn new(given: Option<String>) -> Self {
        Self { given, written: None, any: None, basis: None }
    }

    /// Takes the next step.
    pub fn see(&mut self, step: &Step) {
        if self.given.is_some() || self.written.is_some() || step.role != Role::User {
            return;
        }
        let title = shorten(&step.content);
        if title.is_empty() {
            return;
        }
        if step.is_written_by_person() {
            self.written = Some(title);
        } else if self.any.is_none() {
            self.any = Some(title);
        } else {
            return;
        }
        self.basis = Some(Digest::of(step.content.as_bytes()));
    }

    /// Digest of the whole message that the derived title is from: a title that a model wrote stands while it is the same. None
    /// for a given title, and where no message is.
    pub fn basis(&self) -> Option<Digest> {
        self.basis
    }

    /// The title and where it comes from.
    pub fn finish(self) -> (String, TitleSource) {
        match self.given {
            Some(title) => (title, TitleSource::Given),
            None => (self.written.or(self.any).unwrap_or_else(|| UNTITLED.to_owned()), TitleSource::Derived),
        }
    }
}

/// One line of at most [`TITLE_CHARS_MAX`] characters, cut at a word where one ends in its second half.
pub(crate) fn shorten(text: &str) -> String {
    let mut line = String::new();
    let mut chars = 0;
    for word in text.split_whitespace() {
        if chars > TITLE_CHARS_MAX {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        // A single word may be a whole document.
        line.extend(word.chars().take(TITLE_CHARS_MAX + 1));
        chars = line.chars().count();
    }
    if chars <= TITLE_CHARS_MAX {
        return line;
    }
    let cut = line.char_indices().nth(TITLE_CHARS_MAX - 1).map_or(line.len(), |(at, _)| at);
    let kept = &line[..cut];
    let kept = match kept.rfind(' ') {
        Some(space) if space * 2 > kept.len() => &kept[..space],
        _ => kept,
    };
    format!("{}…", kept.trim_end_matches([' ', ',', ';', ':', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Object;

    fn user(content: &str) -> Step {
        Step {
            role: Role::User,
            content: content.to_owned(),
            tool_name: None,
            tool_input: None,
            tool_call_id: None,
            metadata: None,
        }
    }

    fn title(given: Option<&str>, steps: &[Step]) -> (String, TitleSource) {
        let mut titler = Titler::new(given.map(str::to_owned));
        steps.iter().for_each(|step| titler.see(step));
        titler.finish()
    }

    #[test]
    fn the_first_message_of_a_person_is_shortened() {
        assert_eq!(
            title(None, &[user("  My parcel\n is late ")]),
            ("My parcel is late".to_owned(), TitleSource::Derived)
        );
        let long =
            "Please move my appointment with the dentist from Tuesday to any morning of the week after the holidays";
        let (short, _) = title(None, &[user(long)]);
        assert_eq!(short, "Please move my appointment with the dentist from Tuesday to any morning of the…");
        let injected = Step { metadata: Some(Object::of("injected", true)), ..user("cwd is /tmp") };
        assert_eq!(title(None, &[injected.clone(), user("Build it")]).0, "Build it");
        assert_eq!(title(None, &[injected]).0, "cwd is /tmp");
    }

    #[test]
    fn the_basis_is_the_whole_message_that_the_title_is_from() {
        let basis = |given: Option<&str>, steps: &[Step]| {
            let mut titler = Titler::new(given.map(str::to_owned));
            steps.iter().for_each(|step| titler.see(step));
            titler.basis()
        };
        let long = |end: &str| user(&format!("{} {end}", "word ".repeat(40)));
        assert_ne!(basis(None, &[long("a")]), basis(None, &[long("b")]), "though both are shortened to the same");
        assert_eq!(basis(None, &[user("Hi"), user("there")]), Some(Digest::of(b"Hi")));
        let injected = Step { metadata: Some(Object::of("injected", true)), ..user("cwd is /tmp") };
        assert_eq!(basis(None, &[injected, user("Build it")]), Some(Digest::of(b"Build it")));
        assert_eq!(basis(Some("Given"), &[user("Hi")]), None);
    }

    #[test]
    fn a_given_title_stands_and_nothing_gives_a_name() {
        assert_eq!(title(Some("Refund"), &[user("Hi")]), ("Refund".to_owned(), TitleSource::Given));
        assert_eq!(title(None, &[user(" ")]), (UNTITLED.to_owned(), TitleSource::Derived));
    }

    proptest::proptest! {
        #[test]
        fn a_title_is_one_line_within_its_length(text: String) {
            let title = shorten(&text);
            proptest::prop_assert!(title.chars().count() <= TITLE_CHARS_MAX);
            proptest::prop_assert!(!title.contains('\n'));
        }
    }
}
