//! What formats share. Each file is one rule or one mechanism; a format only says what is special about it.

pub(crate) mod blocks;
pub(crate) mod call_ids;
pub(crate) mod clean;
pub(crate) mod content;
pub(crate) mod cursor;
pub(crate) mod decode;
pub(crate) mod fault;
pub(crate) mod head;
pub(crate) mod look;
pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod records;
pub(crate) mod roles;
pub(crate) mod shared;
pub(crate) mod source;
pub(crate) mod take;
pub(crate) mod time;
pub(crate) mod timed;
pub(crate) mod tool_input;
pub(crate) mod turns;
pub(crate) mod values;
