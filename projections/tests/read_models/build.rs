//! Records as the doors make them.

use crate::world::World;
use stash_domain::annotation::{AnnotationSource, AnnotationText, JudgmentsFrame, StoredJudgment};
use stash_domain::events::{
    AnnotationChanged, AnnotationCreated, Event, JudgmentsImported, RewardModelCreated, RewardModelDeleted,
    RewardModelRenamed, RewardModelTrained, ScoresRecorded, TraceDeleted, TracesImported, TrainingOptions,
};
use stash_domain::ids::{
    AnnotationId, CommandId, Digest, ImportId, JobId, OwnerId, RewardModelId, StepId, SubjectId, TraceId,
    content_subject, derive, trace_id_of,
};
use stash_domain::learning::frame::{Granularity, PairSideFrame, Side, Source, Split};
use stash_domain::record::{Actor, Append, Expected, Record, StreamId};
use stash_domain::reward::frame::{ActionScore, ScoresFrame};
use stash_domain::sealed::{Bundle, Sealed};
use stash_domain::time::Timestamp;
use stash_domain::trace::frame::{Frame, SpansFrame, StepsFrame, StoredStep, SummaryFrame};
use stash_domain::trace::{Role, Span, Step};
use stash_infra::bundle::BundleWriter;
use stash_infra::seal::{self, Purpose};
use uuid::Uuid;

/// The id number `n` of a kind.
pub(crate) fn id<T: From<Uuid>>(kind: &str, owner: OwnerId, n: u64) -> T {
    derive(kind, &[owner.0.as_bytes(), &n.to_be_bytes()]).into()
}

/// The trace with this number.
pub(crate) fn trace(owner: OwnerId, n: u8) -> TraceId {
    trace_id_of(owner, &format!("trace {n}"))
}

/// A step of a trace.
pub(crate) fn step_id(trace: TraceId, n: u8) -> StepId {
    StepId(derive("step", &[trace.0.as_bytes(), &[n]]))
}

/// A record with one append for each event.
pub(crate) fn record(owner: OwnerId, command: u64, expected: Expected, events: Vec<(StreamId, Event)>) -> Record {
    let append = |(n, (stream, event))| Append {
        stream,
        expected: if n == 0 { expected } else { Expected::Any },
        events: vec![event],
    };
    let command_id: CommandId = id("command", owner, command);
    Record {
        command_id,
        owner_id: owner,
        request_digest: Digest::of(command_id.0.as_bytes()),
        actor: Actor::System,
        causation_id: None,
        correlation_id: Uuid::nil(),
        recorded_at: Timestamp(1_000_000 + command.cast_signed()),
        appends: events.into_iter().enumerate().map(append).collect(),
    }
}

/// A trace of an import: its number, its steps, what is said in them.
pub(crate) struct TraceOf<'a> {
    pub(crate) number: u8,
    pub(crate) steps: u8,
    pub(crate) said: &'a str,
}

impl World {
    pub(crate) async fn import(&self, owner: OwnerId, import: ImportId, traces: &[TraceOf<'_>]) -> (StreamId, Event) {
        let mut writer = BundleWriter::new(self.store.clone(), owner, Purpose::TRACE_FRAMES);
        for TraceOf { number, steps, said } in traces {
            let trace = trace(owner, *number);
            let subjects = [content_subject(import, trace), trace.into()];
            let key = self.keys.ensure(owner, &subjects).await.unwrap().remove(0);
            for frame in frames(trace, *number, *steps, said) {
                writer.push(&key, frame.encode().unwrap()).await.unwrap();
            }
        }
        let event = TracesImported {
            import_id: import,
            source_format: "stash".into(),
            trace_count: traces.len() as i64,
            step_count: 0,
            bundle: writer.finish().await.unwrap(),
        };
        (StreamId::Import(import), event.into())
    }

    pub(crate) async fn text(&self, owner: OwnerId, subject: SubjectId, comment: &str) -> Sealed {
        let text = AnnotationText { comment: Some(comment.into()), ..AnnotationText::default() };
        let key = self.keys.ensure(owner, &[subject]).await.unwrap().remove(0);
        seal::seal(&key, Purpose::ANNOTATION_TEXT, &stash_schemas::encode_text(&text).unwrap()).unwrap()
    }

    /// A judgment that came with a trace; it is the annotation of this number.
    pub(crate) async fn judged(
        &self,
        owner: OwnerId,
        import_id: ImportId,
        (trace_id, subject): (TraceId, SubjectId),
        n: u64,
        good: bool,
    ) -> (StreamId, Event) {
        let mut writer = BundleWriter::new(self.store.clone(), owner, Purpose::JUDGMENT_FRAMES);
        let key = self.keys.ensure(owner, &[subject]).await.unwrap().remove(0);
        let judgment = StoredJudgment {
            annotation_id: id("annotation", owner, n),
            step_id: None,
            rating: Some(if good { 1 } else { -1 }),
            comment: Some("judged\0".into()),
            source: AnnotationSource {
                name: "langfuse".into(),
                id: n.to_string(),
                judged: "user-feedback".into(),
                origin: None,
            },
        };
        let frame = JudgmentsFrame { trace_id, judgments: vec![judgment] };
        writer.push(&key, frame.encode().unwrap()).await.unwrap();
        let event = JudgmentsImported { import_id, judgment_count: 1, bundle: writer.finish().await.unwrap() };
        (StreamId::Import(import_id), event.into())
    }

    pub(crate) async fn model(&self, owner: OwnerId, n: u64, traces: &[u8]) -> (StreamId, Event) {
        let model: RewardModelId = id("model", owner, n);
        let key = self.keys.ensure(owner, &[model.into()]).await.unwrap().remove(0);
        let event = RewardModelCreated {
            reward_model_id: model,
            job_id: id("job", owner, n),
            name: seal::seal(&key, Purpose::MODEL_NAME, b"a name").unwrap(),
            base_model: "base".into(),
            compute: "local".into(),
            epochs: 3,
            max_pairs: 10,
            seed: 7,
            learning_rate: None,
            trace_ids: traces.iter().map(|n| trace(owner, *n)).collect(),
            training: Some(TrainingOptions { method: Some("lora".into()), warmup: Some(0.1), ..Default::default() }),
        };
        (StreamId::RewardModel(model), event.into())
    }

    /// Another name for a model.
    pub(crate) async fn renamed(&self, owner: OwnerId, n: u64, name: &str) -> (StreamId, Event) {
        let model: RewardModelId = id("model", owner, n);
        let key = self.keys.ensure(owner, &[model.into()]).await.unwrap().remove(0);
        let name = seal::seal(&key, Purpose::MODEL_NAME, name.as_bytes()).unwrap();
        (StreamId::RewardModel(model), RewardModelRenamed { reward_model_id: model, name }.into())
    }

    /// Pairs of (chosen, rejected), each a trace and its subject.
    pub(crate) async fn trained(
        &self,
        owner: OwnerId,
        n: u64,
        pairs: &[[(TraceId, SubjectId); 2]],
    ) -> (StreamId, Event) {
        let model: RewardModelId = id("model", owner, n);
        let mut writer = BundleWriter::new(self.store.clone(), owner, Purpose::PAIR_FRAMES);
        for (number, pair) in pairs.iter().enumerate() {
            for (side, (trace, subject)) in [Side::Chosen, Side::Rejected].into_iter().zip(pair) {
                let key = self.keys.ensure(owner, &[*subject]).await.unwrap().remove(0);
                let frame = pair_side(u32::try_from(number).unwrap(), side, *trace);
                writer.push(&key, frame.encode().unwrap()).await.unwrap();
            }
        }
        let event = RewardModelTrained {
            reward_model_id: model,
            num_pairs: pairs.len() as i64,
            metrics: "{}".into(),
            artifact_key: "a".into(),
            artifact_digest: "b".into(),
            action_mean: Some(0.5),
            action_std: None,
            pairs: writer.finish().await.unwrap(),
            dataset_digest: Some("c".into()),
            base_checksum: Some("d".into()),
            code_version: None,
        };
        (StreamId::RewardModel(model), event.into())
    }

    pub(crate) async fn scores(
        &self,
        owner: OwnerId,
        n: u64,
        score: f64,
        traces: &[(TraceId, SubjectId)],
    ) -> (StreamId, Event) {
        let model: RewardModelId = id("model", owner, n);
        let mut writer = BundleWriter::new(self.store.clone(), owner, Purpose::SCORE_FRAMES);
        for (trace, subject) in traces {
            let key = self.keys.ensure(owner, &[*subject]).await.unwrap().remove(0);
            writer.push(&key, scores_of(*trace, score).encode().unwrap()).await.unwrap();
        }
        let count = traces.len() as i64;
        let bundle: Bundle = writer.finish().await.unwrap();
        let event = ScoresRecorded {
            reward_model_id: model,
            run_id: None,
            trace_count: count,
            action_count: count,
            bundle,
            precision: None,
        };
        (StreamId::RewardModel(model), event.into())
    }
}

fn frames(trace: TraceId, number: u8, steps: u8, said: &str) -> Vec<Frame> {
    let digest = Digest::of(said.as_bytes());
    let step = |n: u8| StoredStep {
        id: step_id(trace, n),
        step: Step {
            role: if n.is_multiple_of(2) { Role::User } else { Role::Assistant },
            content: format!("{n}: {said}"),
            tool_name: None,
            tool_input: None,
            tool_call_id: None,
            metadata: None,
        },
        action_digest: (n % 2 == 1).then_some(digest),
    };
    let span = Span {
        id: "s".into(),
        parent_id: None,
        name: said.chars().take(10).collect(),
        kind: Some("llm".into()),
        start_ns: 1,
        end_ns: u64::MAX,
        input: None,
        output: Some("out".into()),
        step_indices: vec![0, 1],
    };
    let summary = SummaryFrame {
        trace_id: trace,
        external_id: Some(format!("trace {number}")),
        title: said.chars().take(20).collect(),
        title_source: "derived".into(),
        title_basis: Some(digest),
        metadata: stash_domain::json::Object::new(),
        step_count: u32::from(steps),
        action_count: u32::from(steps / 2),
        span_count: 1,
        trace_digest: digest,
    };
    // Two step frames, so that one does not begin the trace.
    let half = steps / 2;
    let mut frames = Vec::new();
    for (first, last) in [(0, half), (half, steps)] {
        if first < last {
            let steps = (first..last).map(step).collect();
            frames.push(Frame::Steps(StepsFrame { trace_id: trace, first_index: u32::from(first), steps }));
        }
    }
    frames.push(Frame::Spans(SpansFrame { trace_id: trace, first_index: 0, spans: vec![span] }));
    frames.push(Frame::Summary(summary));
    frames
}

fn pair_side(pair: u32, side: Side, trace: TraceId) -> PairSideFrame {
    PairSideFrame {
        pair,
        side,
        trace_id: trace,
        step_id: None,
        text: format!("{pair} {side:?}"),
        cuts: vec![],
        digest: Digest::of(b""),
        granularity: Granularity::Trace,
        action_type: None,
        source: Source::ExplicitRating,
        split: Split::Train,
        revised: false,
        evidence: None,
    }
}

fn scores_of(trace: TraceId, score: f64) -> ScoresFrame {
    let step_id = step_id(trace, 1);
    let digest = Digest::of(b"");
    let action = ActionScore { step_id, digest, score, credit: 0.25, truncated: None };
    // The same action twice: the later score stands.
    let later = ActionScore { score: score + 1.0, ..action.clone() };
    ScoresFrame { trace_id: trace, digest, score: Some(score), truncated: None, actions: vec![action, later] }
}

pub(crate) fn created(
    owner: OwnerId,
    n: u64,
    trace: TraceId,
    subject_id: SubjectId,
    text: Option<Sealed>,
) -> (StreamId, Event) {
    let annotation_id: AnnotationId = id("annotation", owner, n);
    let event = AnnotationCreated {
        annotation_id,
        trace_id: trace,
        step_id: Some(step_id(trace, 1)),
        rating: Some(1),
        author_id: owner,
        subject_id,
        text,
    };
    (StreamId::Annotation(annotation_id), event.into())
}

pub(crate) fn changed(
    owner: OwnerId,
    n: u64,
    trace: TraceId,
    subject_id: SubjectId,
    text: Option<Sealed>,
) -> (StreamId, Event) {
    let annotation_id: AnnotationId = id("annotation", owner, n);
    let event =
        AnnotationChanged { annotation_id, trace_id: trace, rating: Some(-1), label_error: true, subject_id, text };
    (StreamId::Annotation(annotation_id), event.into())
}

pub(crate) fn deleted(trace: TraceId) -> (StreamId, Event) {
    (StreamId::Trace(trace), TraceDeleted { trace_id: trace }.into())
}

/// A model's deletion.
pub(crate) fn dropped(owner: OwnerId, n: u64) -> (StreamId, Event) {
    let reward_model_id: RewardModelId = id("model", owner, n);
    (StreamId::RewardModel(reward_model_id), RewardModelDeleted { reward_model_id }.into())
}

pub(crate) fn job(owner: OwnerId, n: u64, event: impl FnOnce(JobId) -> Event) -> (StreamId, Event) {
    let job: JobId = id("job", owner, n);
    (StreamId::Job(job), event(job))
}
