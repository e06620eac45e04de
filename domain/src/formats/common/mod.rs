//! What formats share. Each file is one rule or one mechanism; a format only says what is special about it.

pub(super) mod blocks;
pub(super) mod call_ids;
pub(super) mod clean;
pub(super) mod content;
pub(super) mod cursor;
pub(super) mod decode;
pub(super) mod fault;
pub(super) mod head;
pub(super) mod json;
pub(super) mod look;
pub(super) mod read;
pub(super) mod record;
pub(super) mod records;
pub(super) mod roles;
pub(super) mod source;
pub(super) mod take;
pub(super) mod time;
pub(super) mod tool_input;
pub(super) mod turns;
pub(super) mod values;
