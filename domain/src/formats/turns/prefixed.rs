//! One string for a whole conversation, each turn begun by a role and a colon.

use super::Side;
use super::builder::{Builder, Message};
use crate::formats::common::blocks::{Answer, Piece};
use crate::formats::common::roles::role_of;
use crate::trace::Role;

/// Roles that begin a turn. Other names of roles are everyday words, that begin lines of any text.
const ROLES: [&str; 7] = ["system", "developer", "user", "human", "assistant", "ai", "tool"];

/// Takes a text, turn by turn if it begins with a role.
pub(super) fn take(text: &str, builder: &mut Builder) {
    if builder.side == Side::Output || role_at(text.trim_start()).is_none() {
        return builder.text(text);
    }
    let mut turn: Option<(Role, String)> = None;
    for line in text.trim_start().split_inclusive('\n') {
        match role_at(line) {
            Some((role, rest)) => {
                finish(turn.take(), builder);
                turn = Some((role, rest.trim_start_matches(' ').to_owned()));
            }
            None => {
                if let Some((_, text)) = &mut turn {
                    text.push_str(line);
                }
            }
        }
    }
    finish(turn, builder);
}

fn finish(turn: Option<(Role, String)>, builder: &mut Builder) {
    let Some((role, text)) = turn else { return };
    let text = text.trim_end().to_owned();
    let piece = match role {
        Role::Tool => Piece::from(Answer { id: None, tool: None, text, is_error: false }),
        _ => Piece::Text(text),
    };
    builder.message(Message::new(role, vec![piece]));
}

/// The role that a line begins with, and what follows the colon.
fn role_at(line: &str) -> Option<(Role, &str)> {
    let (name, rest) = line.split_once(':')?;
    ROLES.iter().any(|role| name.eq_ignore_ascii_case(role)).then(|| role_of(name)).flatten().map(|role| (role, rest))
}
