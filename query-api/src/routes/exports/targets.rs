//! What the owner has rated, as the pair rules need it.
//!
//! Most of it stands in rows. The digest of the text before an action does not: it is made by going through the steps of the
//! traces in which actions are rated, a piece at a time.

use crate::body::BodyError;
use crate::content::{ROWS_MAX, Steps, domain_step};
use sqlx::{FromRow, PgConnection};
use stash_domain::ids::{AnnotationId, Digest, OwnerId, StepId, TraceId};
use stash_domain::learning::pairs::Rated;
use stash_domain::learning::ratings::{Rating, TargetKey, resolve};
use stash_domain::rendering::Digester;
use stash_domain::time::Timestamp;
use stash_domain::trace::ActionType;
use std::collections::{BTreeMap, HashMap};
use uuid::Uuid;

/// Ratings that are looked at, the newest: at most about 600 bytes each while they are worked on, so 60 MB.
pub(super) const RATINGS_MAX: i64 = 100_000;

/// Traces whose first user messages are asked for at once.
const TRACES_AT_ONCE: usize = 500;

/// A rating and what stands beside it.
#[derive(FromRow)]
struct Row {
    annotation_id: Uuid,
    trace_id: Uuid,
    step_id: Option<Uuid>,
    author_id: Uuid,
    rating: i16,
    updated_at: i64,
    imported: bool,
    step_count: i32,
    step_index: Option<i32>,
    is_call: bool,
    digest: Vec<u8>,
}

impl Row {
    fn rating(&self) -> Rating {
        Rating {
            annotation_id: AnnotationId(self.annotation_id),
            target: TargetKey { trace_id: TraceId(self.trace_id), step_id: self.step_id.map(StepId) },
            author_id: OwnerId(self.author_id),
            imported: self.imported,
            rating: i32::from(self.rating),
            label_error: false,
            at: Timestamp(self.updated_at),
        }
    }

    fn action_type(&self) -> Option<ActionType> {
        self.step_index.map(|_| if self.is_call { ActionType::ToolCall } else { ActionType::Response })
    }
}

/// Where a target's text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Its trace.
    pub(super) trace_id: Uuid,
    /// Steps that its text is made of: all, or those up to the action.
    pub(super) steps: i32,
}

/// Targets with a verdict, and where the text of each is. Both lists have the same order.
pub(super) async fn load(connection: &mut PgConnection, owner: OwnerId) -> Result<(Vec<Rated>, Vec<Place>), BodyError> {
    let rows: Vec<Row> =
        sqlx::query_as(include_str!("ratings.sql")).bind(owner.0).bind(RATINGS_MAX).fetch_all(&mut *connection).await?;
    let likings = resolve(rows.iter().map(Row::rating));
    // In the order in which a training goes through its traces, so that one seed means the same pairs in both: the actions of a
    // trace, then the trace.
    let mut rated: BTreeMap<(Uuid, i32), (Rated, Place)> = BTreeMap::new();
    for row in &rows {
        let key = row.rating().target;
        let Some(liking) = likings.get(&key) else { continue };
        let steps = row.step_index.map_or(row.step_count, |index| index.saturating_add(1));
        let target = Rated {
            key,
            action_type: row.action_type(),
            liking: *liking,
            digest: digest(&row.digest)?,
            context: None,
            first_user: None,
        };
        let order = (row.trace_id, row.step_index.unwrap_or(i32::MAX));
        rated.insert(order, (target, Place { trace_id: row.trace_id, steps }));
    }
    let (mut targets, places): (Vec<Rated>, Vec<Place>) = rated.into_values().unzip();
    add_first_users(connection, owner, &mut targets).await?;
    add_contexts(connection, owner, &mut targets, &places).await?;
    Ok((targets, places))
}

async fn add_first_users(
    connection: &mut PgConnection,
    owner: OwnerId,
    targets: &mut [Rated],
) -> Result<(), BodyError> {
    let mut ids: Vec<Uuid> = targets.iter().map(|target| target.key.trace_id.0).collect();
    ids.dedup();
    let mut digests: HashMap<Uuid, Digest> = HashMap::new();
    for some in ids.chunks(TRACES_AT_ONCE) {
        let rows: Vec<(Uuid, Vec<u8>)> = sqlx::query_as(include_str!("first_users.sql"))
            .bind(owner.0)
            .bind(some)
            .fetch_all(&mut *connection)
            .await?;
        for (id, bytes) in rows {
            digests.insert(id, digest(&bytes)?);
        }
    }
    for target in targets {
        target.first_user = digests.get(&target.key.trace_id.0).copied();
    }
    Ok(())
}

/// The actions rated in one trace.
struct Wanted {
    trace_id: Uuid,
    /// By index of the step: the target's place in the list.
    actions: HashMap<i32, usize>,
    /// How far the trace must be read for them.
    steps: i32,
}

async fn add_contexts(
    connection: &mut PgConnection,
    owner: OwnerId,
    targets: &mut [Rated],
    places: &[Place],
) -> Result<(), BodyError> {
    let mut wanted: BTreeMap<Uuid, Wanted> = BTreeMap::new();
    for (at, (target, place)) in targets.iter().zip(places).enumerate() {
        if target.action_type.is_some() {
            let trace_id = place.trace_id;
            let trace =
                wanted.entry(trace_id).or_insert_with(|| Wanted { trace_id, actions: HashMap::new(), steps: 0 });
            trace.actions.insert(place.steps - 1, at);
            trace.steps = trace.steps.max(place.steps);
        }
    }
    let wanted: Vec<Wanted> = wanted.into_values().collect();
    let mut sum = wanted.first().map_or(0, |first| i64::from(first.steps));
    // Small traces are read together, a large one by itself.
    let groups = wanted.chunk_by(|_, next| {
        sum += i64::from(next.steps);
        let together = sum <= ROWS_MAX;
        if !together {
            sum = i64::from(next.steps);
        }
        together
    });
    for group in groups {
        let mut steps = Steps::of(owner, group.iter().map(|trace| (trace.trace_id, trace.steps)));
        let mut digester = Digester::new();
        let mut current = 0;
        loop {
            let piece = steps.next(connection).await?;
            if piece.is_empty() {
                break;
            }
            for (at, step) in piece {
                if at != current {
                    (digester, current) = (Digester::new(), at);
                }
                if let Some(&target) = group[at].actions.get(&step.index) {
                    targets[target].context = Some(digester.current());
                }
                digester.step(&domain_step(step)?);
            }
        }
    }
    Ok(())
}

fn digest(bytes: &[u8]) -> Result<Digest, BodyError> {
    let bytes: [u8; 32] =
        bytes.try_into().map_err(|_| BodyError::Damaged("a digest is not 32 bytes long".to_owned()))?;
    Ok(Digest(bytes))
}
