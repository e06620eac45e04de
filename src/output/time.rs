//! Times in the reader's zone.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A moment of the API, or one in microseconds, as people read it; what is no moment stays as it is.
pub(crate) fn local(moment: &str) -> String {
    match moment.parse::<Timestamp>() {
        Ok(moment) => moment.to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => moment.to_owned(),
    }
}
