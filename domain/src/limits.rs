//! Every bound that more than one part of the system relies on, and why it has that value.

/// Events for at most this many streams in one record. A job's end needs 3 (job, model or run, scores); an import one.
pub const APPENDS_PER_RECORD_MAX: usize = 64;

/// Bytes of one log record. Kafka's topic limit is set to the same 2 MiB, so that a record accepted by one backend fits all.
pub const RECORD_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Payload bytes kept inside a record; anything larger goes to the artifact store and the record points at it.
pub const INLINE_PAYLOAD_BYTES_MAX: usize = 256 * 1024;

/// Plain bytes of one frame of a bundle: steps of a trace are cut into frames of about this size, so that neither side ever
/// holds a whole trace.
pub const FRAME_BYTES_TARGET: usize = 512 * 1024;

/// Stored bytes of one blob of a bundle. Readers hold one blob at a time.
pub const BLOB_BYTES_TARGET: usize = 4 * 1024 * 1024;

/// Blobs one record may point at: 4,096 × 4 MiB = 16 GiB of compressed content, at about 100 bytes of record each.
pub const BLOBS_PER_RECORD_MAX: usize = 4096;

/// Plain bytes of one step (content, tool input and metadata together). A step is held in memory whole, so this bounds every
/// reader and writer.
pub const STEP_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Steps of one trace.
pub const STEPS_PER_TRACE_MAX: u32 = 2_000_000;

/// Nesting of one value inside a trace (tool input, metadata). Frames and exports wrap it in at most 8 levels more, and must
/// stay readable by serde_json, which refuses more than 128.
pub const JSON_VALUE_DEPTH_MAX: usize = 100;

/// Bytes of JSON for each of its parts (values, keys) beyond [`JSON_PARTS_FREE`]. A part takes some 32 bytes of memory and what its text
/// has, so what is parsed takes about 9 times its text at most, and is held at most twice (ADR 9).
pub const JSON_BYTES_PER_PART: usize = 4;

/// Parts that JSON may have however short its text is: some 10 MiB as it is parsed, at most four times as much as spans and steps.
/// Enough for a short array of a quarter of a million digits, or 50,000 small objects.
pub const JSON_PARTS_FREE: usize = 256 * 1024;

/// Observations that a trace of a tracing tool may have however small they are.
pub const OBSERVATIONS_FREE: usize = 1_000;

/// Bytes of text for each observation beyond [`OBSERVATIONS_FREE`]. One takes up to 2 kB of memory as a span, a step and what is
/// merged of it. With an id, a type and a time it has more text than this.
pub const BYTES_PER_OBSERVATION: usize = 100;

/// Bytes of a record (a line, mostly) that an importer parses in memory; a larger one is walked on its source.
pub const IMPORT_RECORD_BYTES_IN_MEMORY: usize = 8 * 1024 * 1024;

/// Bytes of text that an importer holds of one trace whose rules need the whole of it: a session in which turns may be taken
/// back, say. Sessions are mostly far below 10 MB once images and repeated histories are left out.
pub const IMPORT_HELD_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Bytes of everything of a trace but its steps and spans, as JSON. It is one frame, held whole by every reader.
pub const TRACE_HEAD_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Spans of one trace. An importer remembers 32 bytes of each to check them, so at most 32 MB.
pub const SPANS_PER_TRACE_MAX: u32 = 1_000_000;

/// Lines of a session file (one trace) that are remembered to find its order, at about 200 bytes each: 100 MB.
pub const SESSION_LINES_MAX: usize = 500_000;

/// Different ids (of lines, messages, calls, agents) in a session file, at about 100 bytes each: 200 MB. Also how often ids of
/// calls may stand in it, and different texts of the person, at about 30 bytes each.
pub const SESSION_IDS_MAX: usize = 2_000_000;

/// Bytes of one message of a session file that stands on several lines: they are held together to be united, and its texts may
/// become one step.
pub const SESSION_MESSAGE_BYTES_MAX: usize = STEP_BYTES_MAX;

/// Characters of an annotation's comment or of a label-error note.
pub const COMMENT_CHARS_MAX: usize = 20_000;

/// Characters of a quote's text; its prefix and suffix may have [`QUOTE_CONTEXT_CHARS_MAX`].
pub const QUOTE_CHARS_MAX: usize = 20_000;

/// Characters of a quote's prefix and of its suffix.
pub const QUOTE_CONTEXT_CHARS_MAX: usize = 200;

/// Characters of a name that a person gives to a thing (reward model, API key).
pub const NAME_CHARS_MAX: usize = 200;

/// Traces of one import: its answer names them all, so they are held in memory, about 100 bytes each.
pub const TRACES_PER_IMPORT_MAX: u64 = 1_000_000;

/// Characters of an external id.
pub const EXTERNAL_ID_CHARS_MAX: usize = 512;

/// Traces one reward model may be trained on: their ids stand in one record (10,000 × 37 bytes = 370 kB).
pub const TRACES_PER_MODEL_MAX: usize = 10_000;

/// Largest and default number of pairs a model is trained on (the seed's default).
pub const PAIRS_DEFAULT: u32 = 4000;

/// No request may ask for more pairs than this.
pub const PAIRS_MAX: u32 = 100_000;

/// Epochs one training may run.
pub const EPOCHS_MAX: u32 = 100;

/// Highest rank of adapters. A higher one than the smallest projection adds nothing.
pub const LORA_RANK_MAX: u32 = 1024;

/// Largest factor of adapters, as of [`crate::events::TrainingOptions::lora_alpha`].
pub const LORA_ALPHA_MAX: f64 = 1e6;

/// Pairs of an optimizer step.
pub const BATCH_PAIRS_MAX: u32 = 4096;

/// Largest weight decay.
pub const WEIGHT_DECAY_MAX: f64 = 10.0;

/// Longest gradient that is taken as it is.
pub const CLIP_NORM_MAX: f64 = 1e6;

/// Largest coefficient of centring.
pub const CENTER_MAX: f64 = 100.0;

/// Points of a training's curve that are told and kept: at most so many events of progress, 20 kB of a row.
pub const CURVE_POINTS_MAX: usize = 200;

/// Default page size of a list.
pub const PAGE_DEFAULT: u32 = 50;

/// Largest page of a list.
pub const PAGE_MAX: u32 = 500;

/// Microseconds for which a verdict is remembered, in log time: an idempotency key works for seven days.
pub const VERDICT_WINDOW_US: i64 = 7 * 24 * 3600 * 1_000_000;

/// Attempts of a job before it is parked.
pub const JOB_ATTEMPTS_MAX: u32 = 4;

/// Tokens of a text that a model reads; the left is cut beyond (rendering rules).
pub const TOKENS_MAX: u32 = 1024;

/// Characters of the name of an import's source: a path or an address fits.
pub const IMPORT_SOURCE_CHARS_MAX: usize = 1000;

/// An operator's own patterns of what to redact: each is run over every text of an import.
pub const REDACTION_PATTERNS_MAX: usize = 32;

/// Characters of such a pattern.
pub const REDACTION_PATTERN_CHARS_MAX: usize = 1000;
