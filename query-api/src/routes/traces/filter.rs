//! What a list of traces may be narrowed and sorted by.

use crate::params::{Params, invalid};
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::QueryAs;
use sqlx::query::QueryScalar;
use stash_infra::http::Problem;
use std::fmt::Write as _;
use uuid::Uuid;

/// Metadata keys that one request may ask for.
const METADATA_KEYS_MAX: usize = 16;

/// Metadata keys that importers fill from every source, and so have a parameter of their own.
const KNOWN_KEYS: [&str; 5] = ["agent", "model", "session", "user", "environment"];

/// Keys of the metadata, and the text that each must have.
type Wanted = (Vec<String>, Vec<String>);

/// The filters of a request; none lets everything through. Field order is that of the statement's parameters `$2` to `$16`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TraceFilter {
    reward_model_id: Option<Uuid>,
    external_id: Option<String>,
    format: Option<String>,
    from: Option<i64>,
    to: Option<i64>,
    metadata: Option<Wanted>,
    tag: Option<String>,
    tool_name: Option<String>,
    has_comment: Option<bool>,
    has_label_error: Option<bool>,
    rating: Option<i16>,
    score_min: Option<f64>,
    score_max: Option<f64>,
    pattern: Option<String>,
}

impl TraceFilter {
    /// Takes the filters from a request's parameters.
    ///
    /// # Errors
    /// The first that cannot be read.
    pub(crate) fn take(params: &mut Params) -> Result<Self, Problem> {
        Ok(Self {
            reward_model_id: params.uuid("reward_model_id")?,
            external_id: params.take("external_id")?,
            format: params.take("format")?,
            from: moment(params, "from")?,
            to: moment(params, "to")?,
            metadata: metadata(params)?,
            tag: params.take("tag")?,
            tool_name: params.take("tool_name")?,
            has_comment: params.parsed("has_comment", "true or false")?,
            has_label_error: params.parsed("has_label_error", "true or false")?,
            rating: rating(params)?,
            score_min: score(params, "score_min")?,
            score_max: score(params, "score_max")?,
            pattern: params.take("q")?.filter(|text| !text.is_empty()).map(|text| pattern_of(&text)),
        })
    }

    /// Text that differs whenever the filters do.
    pub(crate) fn describe(&self) -> String {
        format!("{self:?}")
    }
}

/// Binds `$1` to `$16`.
macro_rules! bind_filter {
    ($query:expr, $owner:expr, $filter:expr) => {{
        let (keys, values) = $filter.metadata.clone().unzip();
        $query
            .bind($owner)
            .bind($filter.reward_model_id)
            .bind($filter.external_id.clone())
            .bind($filter.format.clone())
            .bind($filter.from)
            .bind($filter.to)
            .bind(keys)
            .bind(values)
            .bind($filter.tag.clone())
            .bind($filter.tool_name.clone())
            .bind($filter.has_comment)
            .bind($filter.has_label_error)
            .bind($filter.rating)
            .bind($filter.score_min)
            .bind($filter.score_max)
            .bind($filter.pattern.clone())
    }};
}

impl TraceFilter {
    /// Binds the owner and the filters to a statement that gives rows.
    pub(crate) fn bind_rows<O>(
        &self,
        query: QueryAs<'static, Postgres, O, PgArguments>,
        owner: Uuid,
    ) -> QueryAs<'static, Postgres, O, PgArguments> {
        bind_filter!(query, owner, self)
    }

    /// Binds the owner and the filters to a statement that gives one value.
    pub(crate) fn bind_scalar<O>(
        &self,
        query: QueryScalar<'static, Postgres, O, PgArguments>,
        owner: Uuid,
    ) -> QueryScalar<'static, Postgres, O, PgArguments> {
        bind_filter!(query, owner, self)
    }
}

/// The `ILIKE` pattern of text that contains this one, all of whose characters stand for themselves.
fn pattern_of(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for character in text.chars() {
        if matches!(character, '\\' | '%' | '_') {
            pattern.push('\\');
        }
        let _ = pattern.write_char(character);
    }
    pattern.push('%');
    pattern
}

fn moment(params: &mut Params, name: &str) -> Result<Option<i64>, Problem> {
    let moment: Option<jiff::Timestamp> = params.parsed(name, "a moment in RFC 3339, such as 2026-09-29T03:12:00Z")?;
    Ok(moment.map(|moment| moment.as_microsecond()))
}

fn rating(params: &mut Params) -> Result<Option<i16>, Problem> {
    match params.take("rating")?.as_deref() {
        None => Ok(None),
        Some("1" | "+1") => Ok(Some(1)),
        Some("-1") => Ok(Some(-1)),
        Some(_) => Err(invalid("rating", format_args!("must be 1 or -1"))),
    }
}

fn score(params: &mut Params, name: &str) -> Result<Option<f64>, Problem> {
    let score: Option<f64> = params.parsed(name, "a number")?;
    match score {
        Some(score) if !score.is_finite() => Err(invalid(name, format_args!("must be a finite number"))),
        score => Ok(score),
    }
}

fn metadata(params: &mut Params) -> Result<Option<Wanted>, Problem> {
    let mut wanted = params.keyed("metadata");
    for name in KNOWN_KEYS {
        if let Some(value) = params.take(name)? {
            wanted.push((name.to_owned(), value));
        }
    }
    if wanted.len() > METADATA_KEYS_MAX {
        return Err(invalid("metadata", format_args!("may name at most {METADATA_KEYS_MAX} keys")));
    }
    wanted.sort();
    Ok((!wanted.is_empty()).then(|| wanted.into_iter().unzip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(query: &str) -> Result<TraceFilter, Problem> {
        let mut params = Params::of(&format!("/?{query}").parse().unwrap())?;
        let filter = TraceFilter::take(&mut params)?;
        params.end()?;
        Ok(filter)
    }

    #[test]
    fn every_filter_is_read() {
        let all = "reward_model_id=00000000-0000-0000-0000-000000000007&external_id=e&format=otel&from=1970-01-01T00:00:01Z\
                   &to=1970-01-01T01:00:00%2B01:00&metadata.plan=pro&agent=bot&tag=vip&tool_name=search&has_comment=true\
                   &has_label_error=false&rating=-1&score_min=-1.5&score_max=2&q=100%25_\\";
        let filter = filter(all).unwrap();
        assert_eq!(filter.from, Some(1_000_000));
        assert_eq!(filter.to, Some(0));
        assert_eq!(filter.metadata, Some((vec!["agent".into(), "plan".into()], vec!["bot".into(), "pro".into()])));
        assert_eq!(filter.rating, Some(-1));
        assert_eq!(filter.pattern.as_deref(), Some(r"%100\%\_\\%"));
    }

    #[test]
    fn an_empty_search_is_no_filter() {
        assert_eq!(filter("q=").unwrap(), TraceFilter::default());
    }

    #[test]
    fn unreadable_filters_are_named() {
        for (query, name) in [
            ("from=yesterday", "from"),
            ("to=2026-01-01", "to"),
            ("rating=0", "rating"),
            ("has_comment=yes", "has_comment"),
            ("has_label_error=1", "has_label_error"),
            ("score_min=NaN", "score_min"),
            ("score_max=inf", "score_max"),
            ("reward_model_id=x", "reward_model_id"),
            ("colour=red", "colour"),
        ] {
            assert!(filter(query).unwrap_err().detail().contains(name), "{query}");
        }
    }

    #[test]
    fn filters_that_differ_are_described_differently() {
        assert_ne!(filter("agent=a").unwrap().describe(), filter("model=a").unwrap().describe());
        assert_eq!(filter("agent=a&model=b").unwrap().describe(), filter("model=b&agent=a").unwrap().describe());
    }
}
