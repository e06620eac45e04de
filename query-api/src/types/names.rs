//! Fields whose values are a few known names or numbers, for the API description. The values themselves come from the domain; the
//! tests compare.

use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident { $($value:ident),+ })+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, ToSchema)]
            #[schema(rename_all = "snake_case")]
            #[allow(dead_code, missing_docs, reason = "only describes")]
            pub(crate) enum $name {
                $($value),+
            }
        )+
    };
}

names! {
    /// How work stands. A cancelled job has failed, and the error says so.
    Status { Queued, Running, Succeeded, Failed }

    /// Who speaks in a step.
    Role { System, User, Assistant, Tool }

    /// What a pair compares.
    Granularity { Trace, Action }

    /// Kind of an action.
    ActionType { Response, ToolCall }

    /// What is thought of an action.
    FindingLabel { Positive, Negative, Unclear }

    /// How sure a judge is.
    FindingConfidence { High, Low }

    /// Whether a person's words or a model's judgment say so.
    FindingSource { UserFeedback, AiJudgment }

    /// A side of a pair.
    PairSide { Chosen, Rejected }

    /// Order of a list of traces; `newest` and `oldest` go by the import.
    TraceSort { Newest, Oldest, MostSteps, FewestSteps, HighestScore, LowestScore }
}

/// A rating: 1 or -1.
pub(crate) struct Rating;

impl utoipa::PartialSchema for Rating {
    fn schema() -> RefOr<Schema> {
        let values = Some([1, -1]);
        ObjectBuilder::new().schema_type(Type::Integer).enum_values(values).description(Some("A rating.")).into()
    }
}

impl ToSchema for Rating {
    fn name() -> std::borrow::Cow<'static, str> {
        "Rating".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stash_domain::learning::extraction::{Confidence, Label};
    use stash_domain::learning::frame::Source;
    use stash_domain::trace;
    use stash_domain::views::reward_model::STATUSES;
    use utoipa::PartialSchema as _;

    fn values<T: utoipa::PartialSchema>() -> Vec<String> {
        let schema = serde_json::to_value(T::schema()).unwrap();
        schema["enum"].as_array().unwrap().iter().map(|value| value.as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn the_names_are_those_of_the_domain() {
        assert_eq!(values::<Status>(), STATUSES);
        let roles = [trace::Role::System, trace::Role::User, trace::Role::Assistant, trace::Role::Tool];
        assert_eq!(values::<Role>(), roles.map(trace::Role::name));
        let kinds = [trace::ActionType::Response, trace::ActionType::ToolCall];
        assert_eq!(values::<ActionType>(), kinds.map(trace::ActionType::name));
        assert_eq!(values::<FindingLabel>(), [Label::Positive, Label::Negative, Label::Unclear].map(Label::name));
        assert_eq!(values::<FindingConfidence>(), [Confidence::High, Confidence::Low].map(Confidence::name));
        assert_eq!(values::<FindingSource>(), [Source::UserFeedback, Source::AiJudgment].map(Source::name));
        assert_eq!(serde_json::to_value(Rating::schema()).unwrap()["enum"], serde_json::json!([1, -1]));
    }
}
