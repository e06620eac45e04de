//! Text that the harness puts into the person's messages, told apart from what the person wrote.

/// Tags of what the harness puts in. `<bash-input>` and `<command-name>` are not among them: those the person typed.
const TAGS: [&str; 8] = [
    "ide_opened_file",
    "ide_selection",
    "system-reminder",
    "task-notification",
    "teammate-message",
    "bash-stdout",
    "bash-stderr",
    "local-command-caveat",
];

/// What the output of a local command begins with; it is for the person's eyes only and is no step.
const LOCAL_OUTPUT: [&str; 2] = ["<local-command-stdout>", "<local-command-stderr>"];

/// What a note on an interruption begins with; it ends at the bracket.
const INTERRUPTED: &str = "[Request interrupted by user";

/// Whether a text is the output of a local command.
pub(super) fn is_local_output(text: &str) -> bool {
    LOCAL_OUTPUT.iter().any(|start| text.trim_start().starts_with(start))
}

/// Splits a text into what the harness put before it and the rest; either may be empty.
pub(super) fn split(text: &str) -> (&str, &str) {
    let mut rest = text.trim_start();
    while let Some(length) = harness_length(rest) {
        let (_, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        rest = after.trim_start();
    }
    let begin = text.len() - rest.len();
    match text.split_at_checked(begin) {
        // Nothing was found: the text keeps its leading white space.
        Some((before, rest)) if !before.trim().is_empty() => (before.trim(), rest),
        _ => ("", text),
    }
}

/// Bytes of what the harness put at the start of a text; a tag that is never closed goes to the end.
fn harness_length(text: &str) -> Option<usize> {
    if text.starts_with(INTERRUPTED) {
        return Some(text.find(']').map_or(text.len(), |at| at + 1));
    }
    let inner = text.strip_prefix('<')?;
    let tag = TAGS.iter().find(|tag| {
        let after = inner.strip_prefix(**tag);
        after.is_some_and(|after| after.starts_with(|next: char| next == '>' || next.is_whitespace()))
    })?;
    let close = format!("</{tag}>");
    Some(text.find(&close).map_or(text.len(), |at| at + close.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_before_a_prompt_is_split_off() {
        assert_eq!(split("Fix it"), ("", "Fix it"));
        assert_eq!(split("  Fix it"), ("", "  Fix it"));
        let before = "<ide_opened_file>a.rs</ide_opened_file>\n<system-reminder a=\"1\">x</system-reminder>";
        assert_eq!(split(&format!("{before}\nFix it")), (before, "Fix it"));
        assert_eq!(split("<system-reminder>never closed"), ("<system-reminder>never closed", ""));
        assert_eq!(
            split("[Request interrupted by user for tool use]"),
            ("[Request interrupted by user for tool use]", "")
        );
        assert_eq!(split("[Request interrupted by user]Go on"), ("[Request interrupted by user]", "Go on"));
        assert_eq!(split("<bash-input>ls</bash-input>"), ("", "<bash-input>ls</bash-input>"));
        assert_eq!(split("<system-reminders>no</system-reminders>"), ("", "<system-reminders>no</system-reminders>"));
        assert_eq!(split("<bash-stdout>é</bash-stdout><bash-stderr></bash-stderr>").1, "");
    }

    proptest::proptest! {
        #[test]
        fn nothing_but_white_space_is_lost(text in "(<system-reminder>|</system-reminder>|\\[Request interrupted by user|\\]|é| |\n|x){0,12}") {
            let (before, rest) = split(&text);
            let squeeze = |text: &str| text.split_whitespace().collect::<String>();
            proptest::prop_assert_eq!(squeeze(before) + &squeeze(rest), squeeze(&text));
        }
    }
}
