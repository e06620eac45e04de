//! Moments as other tools write them, in the one form of a canonical trace: RFC 3339 in UTC.

use crate::json::Json;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The moment in canonical form: from ISO text (without an offset it is taken as UTC), or from seconds, milliseconds,
/// microseconds or nanoseconds since the epoch, told apart by their size. None if it is neither.
pub(crate) fn timestamp(recorded: &Json) -> Option<String> {
    moment(recorded).map(|moment| moment.to_string())
}

/// The moment itself.
pub(crate) fn moment(recorded: &Json) -> Option<Timestamp> {
    match recorded {
        Json::Text(text) => from_text(text.trim()),
        Json::Number(number) => from_epoch(number.as_str()),
        _ => None,
    }
}

fn from_text(text: &str) -> Option<Timestamp> {
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return from_epoch(text);
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    let naive: DateTime = text.parse().ok()?;
    TimeZone::UTC.to_timestamp(naive).ok()
}

fn from_epoch(digits: &str) -> Option<Timestamp> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    // Only the whole part decides the unit, and only seconds have a meaningful fraction.
    match whole.parse::<i64>() {
        Ok(seconds @ 0..100_000_000_000) => {
            let nanoseconds: String = fraction.chars().chain("000000000".chars()).take(9).collect();
            Timestamp::new(seconds, nanoseconds.parse().ok()?).ok()
        }
        Ok(milliseconds @ 100_000_000_000..100_000_000_000_000) => Timestamp::from_millisecond(milliseconds).ok(),
        Ok(microseconds @ 100_000_000_000_000..100_000_000_000_000_000) => {
            Timestamp::from_microsecond(microseconds).ok()
        }
        Ok(nanoseconds @ 100_000_000_000_000_000..) => Timestamp::from_nanosecond(i128::from(nanoseconds)).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(recorded: &str) -> Option<String> {
        timestamp(&serde_json::from_str(recorded).unwrap())
    }

    #[test]
    fn each_form_is_read() {
        let expected = Some("2025-06-01T10:00:00Z".to_owned());
        for recorded in [
            r#""2025-06-01T10:00:00Z""#,
            r#""2025-06-01T12:00:00+02:00""#,
            r#""2025-06-01T10:00:00""#,
            r#""2025-06-01 10:00:00""#,
            "1748772000",
            "1748772000000",
            "1748772000000000",
            "1748772000000000000",
            r#""1748772000""#,
        ] {
            assert_eq!(of(recorded), expected, "{recorded}");
        }
        assert_eq!(of("1748772000.25"), Some("2025-06-01T10:00:00.25Z".to_owned()));
        for recorded in [r#""soon""#, "null", "-5", "1e9", r#""""#, "true", "99999999999999999999999"] {
            assert_eq!(of(recorded), None, "{recorded}");
        }
    }
}
