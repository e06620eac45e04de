//! Spans and log records sent live.

mod bodies;
mod deleting;
mod growing;
mod logs;
mod rebuilding;
mod sent;
