//! A moment as the read models hold it and as people read it.

use serde::{Serialize, Serializer};
use stash_domain::time::Timestamp;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};

/// Microseconds since the epoch in the database; RFC 3339 text in UTC in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, sqlx::Type)]
#[sqlx(transparent)]
pub struct Moment(pub i64);

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Timestamp(self.0).to_rfc3339())
    }
}

impl utoipa::PartialSchema for Moment {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .description(Some("A moment, RFC 3339 in UTC."))
            .into()
    }
}

impl utoipa::ToSchema for Moment {
    fn name() -> std::borrow::Cow<'static, str> {
        "Moment".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_rfc_3339_in_utc() {
        let text = |us| serde_json::to_string(&Moment(us)).unwrap();
        assert_eq!(text(0), r#""1970-01-01T00:00:00Z""#);
        assert_eq!(text(1_790_651_520_000_001), r#""2026-09-29T03:12:00.000001Z""#);
        assert_eq!(text(i64::MIN), r#""1970-01-01T00:00:00Z""#);
    }
}
