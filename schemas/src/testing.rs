//! Strategies for [proptest](https://docs.rs/proptest): records as random as their types allow, every event kind among them.
//! Floating-point numbers are finite, since the domain writes no others.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use stash_domain::annotation::{AnnotationText, Quote};
use stash_domain::events::*;
use stash_domain::ids::Digest;
use stash_domain::record::{Actor, Append, Expected, Record, StreamId};
use stash_domain::sealed::{BlobRef, Bundle, Sealed};
use stash_domain::time::Timestamp;
use uuid::Uuid;

/// Any id of any kind.
pub fn id<T: From<Uuid> + std::fmt::Debug>() -> impl Strategy<Value = T> {
    any::<u128>().prop_map(|bits| T::from(Uuid::from_u128(bits)))
}

/// Any digest.
pub fn digest() -> impl Strategy<Value = Digest> {
    any::<[u8; 32]>().prop_map(Digest)
}

/// Text of any characters, up to a few dozen.
pub fn text() -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..24).prop_map(String::from_iter)
}

/// Sealed bytes.
pub fn sealed() -> impl Strategy<Value = Sealed> {
    vec(any::<u8>(), 0..80).prop_map(Sealed)
}

/// A bundle, inline, in blobs, or (what nobody writes) both.
pub fn bundle() -> impl Strategy<Value = Bundle> {
    let blob = (digest(), any::<i64>()).prop_map(|(digest, size)| BlobRef { digest, size });
    (option::of(sealed()), vec(blob, 0..4), any::<i64>()).prop_map(|(inline, blobs, frames)| Bundle {
        inline,
        blobs,
        frames,
    })
}

/// A finite number.
pub fn finite() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("finite", |number| number.is_finite())
}

/// The text of an annotation.
pub fn annotation_text() -> impl Strategy<Value = AnnotationText> {
    let quote = (text(), text(), text()).prop_map(|(text, prefix, suffix)| Quote { text, prefix, suffix });
    (option::of(text()), option::of(quote), option::of(text()), option::of(text())).prop_map(
        |(comment, quote, label_error_note, author_name)| AnnotationText {
            comment,
            quote,
            label_error_note,
            author_name,
        },
    )
}

/// Choices of a training.
fn training_options() -> impl Strategy<Value = TrainingOptions> {
    let numbers = (option::of(any::<i32>()), option::of(any::<i32>()), vec(option::of(finite()), 5));
    (option::of(text()), option::of(text()), numbers, option::of(any::<bool>())).prop_map(
        |(method, schedule, (lora_rank, batch_pairs, numbers), freeze_embeddings)| TrainingOptions {
            method,
            lora_rank,
            lora_alpha: numbers[0],
            batch_pairs,
            schedule,
            warmup: numbers[1],
            weight_decay: numbers[2],
            clip_norm: numbers[3],
            center: numbers[4],
            freeze_embeddings,
        },
    )
}

/// How far a training is.
fn training_progress() -> impl Strategy<Value = TrainingProgress> {
    let point = (any::<i32>(), finite(), finite()).prop_map(|(step, loss, learning_rate)| CurvePoint {
        step,
        loss,
        learning_rate,
    });
    (any::<i32>(), any::<i32>(), finite(), vec(point, 0..5)).prop_map(|(step, steps, eta_s, points)| TrainingProgress {
        step,
        steps,
        eta_s,
        points,
    })
}

/// A payload whose fields are drawn by the strategies beside their names.
macro_rules! payload {
    ($name:ident { $($field:ident: $strategy:expr),+ $(,)? }) => {{
        // Drawn in a nest of pairs, since tuples of strategies end at 12.
        let drawn = Just(());
        $(let drawn = (drawn, $strategy);)+
        drawn.prop_map(|payload!(@pattern (_); $($field)+)| Event::from($name { $($field),+ })).boxed()
    }};
    (@pattern ($pattern:pat); $field:ident $($rest:ident)*) => { payload!(@pattern (($pattern, $field)); $($rest)*) };
    (@pattern ($pattern:pat);) => { $pattern };
}

/// One strategy per event kind, with the kind's name, in the order of [`Event::NAMES`].
pub fn events() -> Vec<(&'static str, BoxedStrategy<Event>)> {
    let strategies = vec![
        payload!(TracesImported {
            import_id: id(),
            source_format: text(),
            trace_count: any::<i64>(),
            step_count: any::<i64>(),
            bundle: bundle(),
        }),
        payload!(OtelReceived {
            import_id: id(),
            trace_count: any::<i64>(),
            span_count: any::<i64>(),
            log_count: any::<i64>(),
            bundle: bundle(),
        }),
        payload!(TraceDeleted { trace_id: id() }),
        payload!(TraceTitled {
            trace_id: id(),
            title_source: text(),
            subject_id: id(),
            title: sealed(),
            model: option::of(text()),
            input_tokens: any::<i64>(),
            output_tokens: any::<i64>(),
            cost_micros: option::of(any::<i64>()),
        }),
        payload!(TitleFailed {
            trace_id: id(),
            code: text(),
            message: text(),
            subject_id: id(),
            basis: sealed(),
            input_tokens: any::<i64>(),
            output_tokens: any::<i64>(),
            cost_micros: option::of(any::<i64>()),
        }),
        payload!(TitleRequested { trace_id: id() }),
        payload!(AnnotationCreated {
            annotation_id: id(),
            trace_id: id(),
            step_id: option::of(id()),
            rating: option::of(any::<i32>()),
            author_id: id(),
            subject_id: id(),
            text: option::of(sealed()),
        }),
        payload!(AnnotationChanged {
            annotation_id: id(),
            trace_id: id(),
            rating: option::of(any::<i32>()),
            label_error: any::<bool>(),
            subject_id: id(),
            text: option::of(sealed()),
        }),
        payload!(AnnotationDeleted { annotation_id: id(), trace_id: id() }),
        payload!(JudgmentsImported { import_id: id(), judgment_count: any::<i64>(), bundle: bundle() }),
        payload!(RewardModelCreated {
            reward_model_id: id(),
            job_id: id(),
            name: sealed(),
            base_model: text(),
            compute: text(),
            epochs: any::<i32>(),
            max_pairs: any::<i32>(),
            seed: any::<i64>(),
            learning_rate: option::of(finite()),
            trace_ids: vec(id(), 0..6),
            training: option::of(training_options()),
        }),
        payload!(RewardModelTrained {
            reward_model_id: id(),
            num_pairs: any::<i64>(),
            metrics: text(),
            artifact_key: text(),
            artifact_digest: text(),
            action_mean: option::of(finite()),
            action_std: option::of(finite()),
            pairs: bundle(),
            dataset_digest: option::of(text()),
            base_checksum: option::of(text()),
            code_version: option::of(text()),
        }),
        payload!(RewardModelRenamed { reward_model_id: id(), name: sealed() }),
        payload!(RewardModelDeleted { reward_model_id: id() }),
        payload!(JudgeAnswered {
            reward_model_id: id(),
            job_id: id(),
            attempt: any::<i32>(),
            trace_id: id(),
            purpose: text(),
            classifier_model: text(),
            input_tokens: any::<i64>(),
            cached_tokens: any::<i64>(),
            output_tokens: any::<i64>(),
            cost_micros: option::of(any::<i64>()),
            call: bundle(),
        }),
        payload!(FindingsRecorded {
            reward_model_id: id(),
            job_id: id(),
            attempt: any::<i32>(),
            prompt_version: any::<i32>(),
            calls: any::<i64>(),
            calls_made: any::<i64>(),
            input_tokens: any::<i64>(),
            output_tokens: any::<i64>(),
            cost_micros: option::of(any::<i64>()),
            findings: bundle(),
        }),
        payload!(ScoringRequested { run_id: id(), job_id: id(), trace_id: id(), reward_model_id: id() }),
        payload!(ScoresRecorded {
            reward_model_id: id(),
            run_id: option::of(id()),
            trace_count: any::<i64>(),
            action_count: any::<i64>(),
            bundle: bundle(),
            precision: option::of(text()),
        }),
        payload!(JobRequested {
            job_id: id(),
            kind: text(),
            compute: text(),
            reward_model_id: option::of(id()),
            run_id: option::of(id()),
        }),
        payload!(JobClaimed { job_id: id(), attempt: any::<i32>(), worker: text() }),
        payload!(JobProgressed {
            job_id: id(),
            attempt: any::<i32>(),
            phase: text(),
            fraction: finite(),
            training: option::of(training_progress()),
        }),
        payload!(JobCompleted { job_id: id(), attempt: any::<i32>() }),
        payload!(JobFailed {
            job_id: id(),
            attempt: any::<i32>(),
            code: text(),
            message: text(),
            retry: any::<bool>(),
        }),
        payload!(JobCancelRequested { job_id: id() }),
        payload!(JobCancelled { job_id: id(), attempt: any::<i32>() }),
        payload!(JobLeaseExpired { job_id: id(), attempt: any::<i32>() }),
        payload!(JobParked { job_id: id(), attempt: any::<i32>(), code: text(), message: text() }),
        payload!(AccountCreated { account_id: id(), role: text(), reward_models_enabled: any::<bool>() }),
        payload!(RewardModelsSwitched { account_id: id(), enabled: any::<bool>() }),
        payload!(LlmSwitched { account_id: id(), purpose: text(), allowed: any::<bool>() }),
        payload!(ApiKeyCreated { api_key_id: id(), account_id: id(), scope: text() }),
        payload!(ApiKeyRevoked { api_key_id: id() }),
    ];
    Event::NAMES.iter().copied().zip(strategies).collect()
}

/// An event of any kind.
pub fn event() -> impl Strategy<Value = Event> {
    proptest::strategy::Union::new(events().into_iter().map(|(_, strategy)| strategy))
}

/// A stream of any kind.
pub fn stream_id() -> impl Strategy<Value = StreamId> {
    prop_oneof![
        id().prop_map(StreamId::Import),
        id().prop_map(StreamId::Trace),
        id().prop_map(StreamId::Annotation),
        id().prop_map(StreamId::RewardModel),
        id().prop_map(StreamId::ScoringRun),
        id().prop_map(StreamId::Job),
        id().prop_map(StreamId::Account),
        id().prop_map(StreamId::ApiKey),
    ]
}

/// An append of one to three events; they need not suit their stream.
pub fn append() -> impl Strategy<Value = Append> {
    let expected = prop_oneof![Just(Expected::Any), (0..=i64::MAX as u64).prop_map(Expected::Version)];
    (stream_id(), expected, vec(event(), 1..4)).prop_map(|(stream, expected, events)| Append {
        stream,
        expected,
        events,
    })
}

/// A record of up to three appends.
pub fn record() -> impl Strategy<Value = Record> {
    let actor = prop_oneof![Just(Actor::System), id().prop_map(Actor::ApiKey)];
    (id(), id(), digest(), actor, option::of(id()), id(), any::<i64>(), vec(append(), 0..4)).prop_map(
        |(command_id, owner_id, request_digest, actor, causation_id, correlation_id, recorded_at, appends)| Record {
            command_id,
            owner_id,
            request_digest,
            actor,
            causation_id,
            correlation_id,
            recorded_at: Timestamp(recorded_at),
            appends,
        },
    )
}
