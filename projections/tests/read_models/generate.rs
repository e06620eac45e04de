//! Random command sequences: few owners, traces and ids, so that commands meet.

use crate::build::{TraceOf, changed, created, deleted, dropped, id, job, record, trace};
use crate::world::{World, owner};
use proptest::prelude::*;
use proptest::sample::Index;
use stash_domain::events::{
    AnnotationDeleted, CurvePoint, Event, JobCancelRequested, JobCancelled, JobClaimed, JobCompleted, JobFailed,
    JobLeaseExpired, JobParked, JobProgressed, JobRequested, ScoringRequested, TrainingProgress,
};
use stash_domain::ids::{ImportId, JobId, OwnerId, SubjectId, TraceId, content_subject};
use stash_domain::record::{Expected, Record, StreamId};
use std::collections::HashMap;

#[derive(Clone, Debug)]
pub(crate) enum Op {
    Import(Vec<(u8, u8)>),
    /// Spans sent live.
    Send(Vec<(u8, u8)>),
    Delete(u8),
    Annotate(u8),
    Change(u8),
    Unannotate(u8),
    /// What an import brings of judgments, and how it rates.
    Judge(u8, bool),
    Model(u8, Vec<u8>),
    Train(u8, Vec<(u8, u8)>),
    Rename(u8),
    /// Deletes a model.
    Drop(u8),
    Score(u8, Vec<u8>),
    RequestScoring(u8, u8),
    /// Findings of an attempt of a model.
    Learn(u8, i32, Vec<u8>),
    /// An answer of a judge about a trace, by the number of the question.
    Answer(u8, u8, u8),
    Job(u8, u8, i32),
    /// An earlier record again.
    Repeat(Index),
}

#[derive(Clone, Debug)]
pub(crate) struct Command {
    owner: u8,
    expected: Option<u8>,
    op: Op,
}

const TRACES: u8 = 3;

fn op() -> impl Strategy<Value = Op> {
    let trace = || 0..TRACES;
    let traces = || prop::collection::vec(0..TRACES, 1..4);
    prop_oneof![
        4 => prop::collection::vec((trace(), 0..4_u8), 1..4).prop_map(Op::Import),
        5 => prop::collection::vec((trace(), 0..8_u8), 1..5).prop_map(Op::Send),
        2 => trace().prop_map(Op::Delete),
        3 => (0..5_u8).prop_map(Op::Annotate),
        3 => (0..5_u8).prop_map(Op::Change),
        1 => (0..5_u8).prop_map(Op::Unannotate),
        3 => (0..5_u8, any::<bool>()).prop_map(|(a, good)| Op::Judge(a, good)),
        1 => (0..2_u8, traces()).prop_map(|(m, t)| Op::Model(m, t)),
        2 => (0..2_u8, prop::collection::vec((trace(), trace()), 0..3)).prop_map(|(m, p)| Op::Train(m, p)),
        1 => (0..2_u8).prop_map(Op::Rename),
        1 => (0..2_u8).prop_map(Op::Drop),
        2 => (0..2_u8, traces()).prop_map(|(m, t)| Op::Score(m, t)),
        1 => (trace(), 0..2_u8).prop_map(|(t, m)| Op::RequestScoring(t, m)),
        2 => (0..2_u8, 0..3_i32, traces()).prop_map(|(m, attempt, t)| Op::Learn(m, attempt, t)),
        3 => (0..2_u8, trace(), 0..3_u8).prop_map(|(m, t, question)| Op::Answer(m, t, question)),
        5 => (0..2_u8, 0..9_u8, 0..4_i32).prop_map(|(j, what, attempt)| Op::Job(j, what, attempt)),
        2 => any::<Index>().prop_map(Op::Repeat),
    ]
}

pub(crate) fn commands() -> impl Strategy<Value = Vec<Command>> {
    let expected = prop_oneof![3 => Just(None), 1 => (0..4_u8).prop_map(Some)];
    let command = (0..2_u8, expected, op()).prop_map(|(owner, expected, op)| Command { owner, expected, op });
    prop::collection::vec(command, 1..40)
}

/// The commands' records, in order. Everything is sealed before anything is projected, as if all of it raced.
pub(crate) async fn records(world: &World, commands: &[Command]) -> Vec<Record> {
    let mut made: Vec<Record> = Vec::new();
    let mut newest: HashMap<TraceId, SubjectId> = HashMap::new();
    for (number, command) in (0_u64..).zip(commands) {
        if let Op::Repeat(index) = &command.op {
            if !made.is_empty() {
                made.push(made[index.index(made.len())].clone());
            }
            continue;
        }
        let owner = owner(command.owner);
        let expected = command.expected.map_or(Expected::Any, |version| Expected::Version(version.into()));
        let events = vec![event(world, owner, number, &command.op, &newest).await];
        if let (Op::Import(traces) | Op::Send(traces), StreamId::Import(import)) = (&command.op, events[0].0) {
            for (n, _) in traces {
                newest.insert(trace(owner, *n), content_subject(import, trace(owner, *n)));
            }
        }
        made.push(record(owner, number, expected, events));
    }
    made
}

async fn event(
    world: &World,
    owner: OwnerId,
    number: u64,
    op: &Op,
    newest: &HashMap<TraceId, SubjectId>,
) -> (StreamId, Event) {
    // What is said of a trace before any import is sealed under a subject of its own.
    let subject = |n: u8| {
        let trace = trace(owner, n);
        (trace, newest.get(&trace).copied().unwrap_or_else(|| content_subject(id("none", owner, 0), trace)))
    };
    match op {
        Op::Import(traces) => {
            let import: ImportId = id("import", owner, number);
            let said = format!("said in {number}");
            let traces: Vec<_> =
                traces.iter().map(|(n, steps)| TraceOf { number: *n, steps: *steps, said: &said }).collect();
            world.import(owner, import, &traces).await
        }
        Op::Send(spans) => world.sent(owner, id("import", owner, number), spans).await,
        Op::Delete(n) => deleted(trace(owner, *n)),
        Op::Annotate(annotation) => {
            let (trace, subject) = subject(annotation % TRACES);
            let text = world.text(owner, subject, &format!("comment {number}\0")).await;
            created(owner, u64::from(*annotation), trace, subject, Some(text))
        }
        Op::Change(annotation) => {
            let (trace, subject) = subject(annotation % TRACES);
            let text =
                (!number.is_multiple_of(3)).then_some(world.text(owner, subject, &format!("change {number}")).await);
            changed(owner, u64::from(*annotation), trace, subject, text)
        }
        Op::Unannotate(annotation) => {
            let annotation_id = id("annotation", owner, u64::from(*annotation));
            let event = AnnotationDeleted { annotation_id, trace_id: trace(owner, annotation % TRACES) };
            (StreamId::Annotation(annotation_id), event.into())
        }
        Op::Judge(annotation, good) => {
            let (trace, subject) = subject(annotation % TRACES);
            world.judged(owner, id("import", owner, number), (trace, subject), u64::from(*annotation), *good).await
        }
        Op::Model(model, traces) => world.model(owner, u64::from(*model), traces).await,
        Op::Train(model, pairs) => {
            let pairs: Vec<_> = pairs.iter().map(|(a, b)| [subject(*a), subject(*b)]).collect();
            world.trained(owner, u64::from(*model), &pairs).await
        }
        Op::Rename(model) => world.renamed(owner, u64::from(*model), &format!("name {number}\0")).await,
        Op::Drop(model) => dropped(owner, u64::from(*model)),
        Op::Score(model, traces) => {
            let traces: Vec<_> = traces.iter().map(|n| subject(*n)).collect();
            world.scores(owner, u64::from(*model), number as f64, &traces).await
        }
        Op::Learn(model, attempt, traces) => {
            let traces: Vec<_> = traces.iter().map(|n| subject(*n)).collect();
            world.findings(owner, u64::from(*model), *attempt, &traces).await
        }
        Op::Answer(model, n, question) => {
            world.answered(owner, u64::from(*model), subject(*n), *question, &format!("answer {number}\0")).await
        }
        Op::RequestScoring(n, model) => {
            let run_id = id("run", owner, number % 5);
            let event = ScoringRequested {
                run_id,
                job_id: id("job", owner, 1),
                trace_id: trace(owner, *n),
                reward_model_id: id("model", owner, u64::from(*model)),
            };
            (StreamId::ScoringRun(run_id), event.into())
        }
        Op::Job(n, what, attempt) => job_event(owner, *n, *what, *attempt),
        Op::Repeat(_) => panic!("a repeat makes no event"),
    }
}

fn job_event(owner: OwnerId, n: u8, what: u8, attempt: i32) -> (StreamId, Event) {
    job(owner, u64::from(n), |job_id| match what {
        0 | 1 => JobRequested {
            job_id,
            kind: "train".into(),
            compute: "local".into(),
            reward_model_id: Some(id("model", owner, u64::from(n))),
            run_id: None,
        }
        .into(),
        2 => JobClaimed { job_id, attempt, worker: "w".into() }.into(),
        3 => progressed(job_id, attempt).into(),
        4 => JobCompleted { job_id, attempt }.into(),
        5 => JobFailed { job_id, attempt, code: "c".into(), message: "m\0".into(), retry: attempt < 3 }.into(),
        6 => JobLeaseExpired { job_id, attempt }.into(),
        7 => JobCancelRequested { job_id }.into(),
        _ if attempt == 0 => JobCancelled { job_id, attempt }.into(),
        _ => JobParked { job_id, attempt, code: "c".into(), message: "m".into() }.into(),
    })
}

/// An attempt after its fourth step, which began at its number.
fn progressed(job_id: JobId, attempt: i32) -> JobProgressed {
    let points = (attempt..=4).map(|step| CurvePoint { step, loss: 0.1 / f64::from(step + 1), learning_rate: 1e-5 });
    let training = TrainingProgress { step: 4, steps: 7, eta_s: 1.5, points: points.collect() };
    let fraction = 0.1 * f64::from(attempt);
    JobProgressed { job_id, attempt, phase: "training".into(), fraction, training: Some(training) }
}
