//! The plain bytes of every frame of a [`Bundle`](crate::sealed::Bundle): one letter for the kind, then JSON. Letters in use:
//! `S`, `P`, `Z` ([`crate::trace::frame`]), `Q` ([`crate::learning::frame`]), `V` ([`crate::reward::frame`]),
//! `J` ([`crate::annotation::JudgmentsFrame`]),
//! `O`, `L` ([`crate::otel::frame`]), `F`, `C` ([`crate::learning::extraction::frame`]), `T` ([`crate::titling::TitleFrame`]).

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Bytes that are no frame of the expected kind; only damage or a newer writer makes them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a frame: {0}")]
pub struct BadFrame(pub String);

pub(crate) fn encode(kind: u8, frame: &impl Serialize) -> Result<Vec<u8>, BadFrame> {
    let mut bytes = vec![kind];
    serde_json::to_writer(&mut bytes, frame).map_err(|error| BadFrame(error.to_string()))?;
    Ok(bytes)
}

pub(crate) fn decode<T: DeserializeOwned>(kind: u8, bytes: &[u8]) -> Result<T, BadFrame> {
    match bytes.split_first() {
        Some((first, json)) if *first == kind => {
            serde_json::from_slice(json).map_err(|error| BadFrame(error.to_string()))
        }
        Some((first, _)) => Err(BadFrame(format!("expected kind {kind}, found {first}"))),
        None => Err(BadFrame("empty".to_owned())),
    }
}
