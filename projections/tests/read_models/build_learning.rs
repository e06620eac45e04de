//! Findings and answers of judges, as a training records them.

use crate::build::{id, step_id};
use crate::world::World;
use serde_json::{Map, json};
use stash_domain::events::{Event, FindingsRecorded, JudgeAnswered};
use stash_domain::ids::{Digest, OwnerId, SubjectId, TraceId};
use stash_domain::learning::extraction::frame::{FindingFrame, JudgeCallFrame};
use stash_domain::learning::extraction::{
    Confidence, EvidenceId, Exclusion, Finding, Label, Preferred, Purpose as CallPurpose, Sample,
};
use stash_domain::learning::frame::Source;
use stash_domain::record::StreamId;
use stash_domain::rendering::Revision;
use stash_domain::trace::ActionType;
use stash_infra::bundle::BundleWriter;
use stash_infra::seal::Purpose;

impl World {
    /// The findings of an attempt: one for each trace, named in its reason.
    pub(crate) async fn findings(
        &self,
        owner: OwnerId,
        model: u64,
        attempt: i32,
        traces: &[(TraceId, SubjectId)],
    ) -> (StreamId, Event) {
        let mut writer = BundleWriter::new(self.store.clone(), owner, Purpose::FINDING_FRAMES);
        for (ordinal, (trace, subject)) in (0_u32..).zip(traces) {
            let key = self.keys.ensure(owner, &[*subject]).await.unwrap().remove(0);
            let frame = FindingFrame { ordinal, included_in_training: ordinal == 0, finding: finding(*trace, attempt) };
            writer.push(&key, frame.encode().unwrap()).await.unwrap();
        }
        let reward_model_id = id("model", owner, model);
        let event = FindingsRecorded {
            reward_model_id,
            job_id: id("job", owner, model),
            attempt,
            prompt_version: 1,
            calls: traces.len() as i64,
            calls_made: 1,
            input_tokens: 100,
            output_tokens: 10,
            cost_micros: (attempt > 0).then_some(7),
            findings: writer.finish().await.unwrap(),
        };
        (StreamId::RewardModel(reward_model_id), event.into())
    }

    /// An answer to the question of this number.
    pub(crate) async fn answered(
        &self,
        owner: OwnerId,
        model: u64,
        (trace_id, subject): (TraceId, SubjectId),
        question: u8,
        answer: &str,
    ) -> (StreamId, Event) {
        let frame = JudgeCallFrame {
            trace_id,
            step_index: 1,
            purpose: CallPurpose::Judgment,
            key: Digest::of(&[question]),
            prompt_version: 1,
            question: vec!["instructions".into(), "context".into(), "task".into()],
            model: "judge".into(),
            parameters: Map::new(),
            replies: vec![answer.to_owned()],
            answer: json!({ "reason": answer }),
        };
        let mut writer = BundleWriter::new(self.store.clone(), owner, Purpose::JUDGE_CALL_FRAMES);
        let key = self.keys.ensure(owner, &[subject]).await.unwrap().remove(0);
        writer.push(&key, frame.encode().unwrap()).await.unwrap();
        let reward_model_id = id("model", owner, model);
        let event = JudgeAnswered {
            reward_model_id,
            job_id: id("job", owner, model),
            attempt: 1,
            trace_id,
            purpose: "judgment".into(),
            classifier_model: "judge".into(),
            input_tokens: 100,
            cached_tokens: 60,
            output_tokens: 10,
            cost_micros: None,
            call: writer.finish().await.unwrap(),
        };
        (StreamId::RewardModel(reward_model_id), event.into())
    }
}

fn finding(trace_id: TraceId, attempt: i32) -> Finding {
    let step_id = step_id(trace_id, 1);
    Finding {
        trace_id,
        step_id,
        step_index: 1,
        action_type: ActionType::Response,
        tool_name: None,
        digest: Digest::of(b"original"),
        label: Label::Negative,
        confidence: Confidence::High,
        source: Source::AiJudgment,
        evidence_id: EvidenceId::Step(step_id),
        evidence_quote: "quoted\0".into(),
        criteria: Sample::all(),
        reason: format!("attempt {attempt}"),
        classifier_model: "judge".into(),
        revision: Some(Revision::Response { content: "better".into() }),
        revision_digest: Some(Digest::of(b"better")),
        preferred: Some(Preferred::Revision),
        exclusion: (attempt == 0).then_some(Exclusion::Tie),
    }
}
