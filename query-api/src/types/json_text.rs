//! JSON that is kept as text and passed on unread: numbers keep their digits, whatever their size.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgTypeInfo, PgValueRef};
use sqlx::{Decode, Postgres, Type};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type as JsonType};

/// One JSON object, on one line.
#[derive(Clone, Debug)]
pub struct JsonText(Box<RawValue>);

impl JsonText {
    /// Takes text that is JSON.
    ///
    /// # Errors
    /// When it is none.
    pub fn new(mut text: String) -> Result<Self, serde_json::Error> {
        // A raw line break in JSON can only stand between tokens; in JSONL it would end the line.
        if text.contains(['\n', '\r']) {
            text = text.replace(['\n', '\r'], " ");
        }
        RawValue::from_string(text).map(Self)
    }

    /// The text.
    pub fn get(&self) -> &str {
        self.0.get()
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Type<Postgres> for JsonText {
    fn type_info() -> PgTypeInfo {
        <String as Type<Postgres>>::type_info()
    }

    fn compatible(ty: &PgTypeInfo) -> bool {
        <String as Type<Postgres>>::compatible(ty)
    }
}

impl<'r> Decode<'r, Postgres> for JsonText {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(Self::new(<String as Decode<Postgres>>::decode(value)?)?)
    }
}

impl utoipa::PartialSchema for JsonText {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::new(JsonType::Object))
            .additional_properties(Some(utoipa::openapi::schema::AdditionalProperties::FreeForm(true)))
            .description(Some("A JSON object, passed on as it was recorded."))
            .into()
    }
}

impl utoipa::ToSchema for JsonText {
    fn name() -> std::borrow::Cow<'static, str> {
        "JsonObject".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits_and_the_text_stays_on_one_line() {
        let text = JsonText::new("{\"a\":\n 1.10, \"b\": 123456789012345678901234567890}".to_owned()).unwrap();
        assert_eq!(serde_json::to_string(&text).unwrap(), "{\"a\":  1.10, \"b\": 123456789012345678901234567890}");
    }

    #[test]
    fn text_that_is_no_json_is_refused() {
        JsonText::new("{".to_owned()).unwrap_err();
    }
}
