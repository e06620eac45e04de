//! Bounds on requests. Bounds that a stored thing depends on are not settings: they stand in `stash_domain::limits`.

use super::environment::{Environment, SettingError};
use super::kinds::{Count, Setting};
use std::time::Duration;

const MIB: u64 = 1024 * 1024;

const IMPORT_JSON_BYTES: Count = Count {
    name: "STASH_IMPORT_JSON_BYTES_MAX",
    default: 16 * MIB,
    min: MIB,
    max: 1024 * MIB,
    unit: "bytes",
    doc: "Body of an import as one JSON object, which is held in memory. A raw body is streamed instead.",
};

const IMPORT_BYTES: Count = Count {
    name: "STASH_IMPORT_BYTES_MAX",
    default: 16 * 1024 * MIB,
    min: MIB,
    max: 1024 * 1024 * MIB,
    unit: "bytes",
    doc: "Raw body of an import, after inflation. It is streamed, so it takes disk and no memory.",
};

const OTLP_BYTES: Count = Count {
    name: "STASH_OTLP_BYTES_MAX",
    default: 16 * MIB,
    min: MIB,
    max: 32 * MIB,
    unit: "bytes",
    doc: "Request of OpenTelemetry spans or log records, after inflation. It is held in memory.",
};

const WAIT_BUDGET: Count = Count {
    name: "STASH_WAIT_BUDGET_MS",
    default: 2000,
    min: 1,
    max: 60_000,
    unit: "milliseconds",
    doc: "How long a command waits for its verdict before it is answered with 202, and a read for its position before 503.",
};

const READY_LAG: Count = Count {
    name: "STASH_READY_LAG_MAX",
    default: 100_000,
    min: 1,
    max: 1_000_000_000,
    unit: "records",
    doc: "How far the read models may be behind the log before `/readyz` says that the process is not ready.",
};

pub(super) const SETTINGS: &[&dyn Setting] =
    &[&IMPORT_JSON_BYTES, &IMPORT_BYTES, &OTLP_BYTES, &WAIT_BUDGET, &READY_LAG];

/// Bounds on requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitSettings {
    /// Bytes of an import's JSON body.
    pub import_json_bytes_max: usize,
    /// Bytes of an import's raw body, inflated.
    pub import_bytes_max: u64,
    /// Bytes of a request of spans or log records, inflated.
    pub otlp_bytes_max: usize,
    /// How long a request waits for a verdict or a position.
    pub wait_budget: Duration,
    /// Records that the read models may be behind while the process counts as ready.
    pub ready_lag_max: u64,
}

impl LimitSettings {
    /// Reads them.
    ///
    /// # Errors
    /// [`SettingError`].
    pub fn read(environment: &Environment) -> Result<Self, SettingError> {
        Ok(Self {
            import_json_bytes_max: IMPORT_JSON_BYTES.read_usize(environment)?,
            import_bytes_max: IMPORT_BYTES.read(environment)?,
            otlp_bytes_max: OTLP_BYTES.read_usize(environment)?,
            wait_budget: WAIT_BUDGET.read_millis(environment)?,
            ready_lag_max: READY_LAG.read(environment)?,
        })
    }
}
