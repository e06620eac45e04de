//! Asking until the answer is what was asked for: checked here, whatever the server promised, and mended once.
//!
//! Every finished call is handed to a journal before its answer is used, and looked up there before it is made. So whoever asks
//! again after a crash repeats only what was under way, and pays for nothing twice.

use super::budget::Budget;
use super::call::{Call, Reply, Speaker, Stop, Turn};
use super::error::LlmError;
use super::{Llm, extract};
use async_trait::async_trait;
use serde_json::Value;
use stash_domain::ids::Digest;

/// Characters of a check's message that the model is shown.
const WRONG_CHARS_MAX: usize = 1000;

/// Characters of a malformed reply that the model is shown again.
const REPLY_CHARS_MAX: usize = 20_000;

/// What a journal holds of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Kept {
    /// Its answer. Only `text` is asked for: the answer's JSON.
    Answered(Reply),
    /// A reply that was malformed; the repair was not answered yet.
    Malformed(Reply),
    /// Malformed also after the repair: the first reply, which ended as the last one did.
    MalformedTwice(Reply),
}

/// A finished call.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    /// What the question is found again by, the same for its repair.
    pub digest: Digest,
    /// The call as it was sent.
    pub call: &'a Call,
    /// The replies to the question so far; the last one is this call's.
    pub replies: &'a [Reply],
    /// What was taken from the last reply; none if that was not what was asked for.
    pub answer: Option<&'a Value>,
}

/// Where finished calls are kept.
#[async_trait]
pub trait Journal: Send + Sync {
    /// What is kept of a question. A malformed reply only if the same job got it: another one asks anew.
    ///
    /// # Errors
    /// What went wrong; the call is then not made, since it could not be kept either.
    async fn find(&self, digest: Digest) -> Result<Option<Kept>, String>;

    /// Keeps a finished call.
    ///
    /// # Errors
    /// What went wrong.
    async fn keep(&self, finished: Finished<'_>) -> Result<(), String>;
}

/// Keeps nothing.
pub struct NoJournal;

#[async_trait]
impl Journal for NoJournal {
    async fn find(&self, _: Digest) -> Result<Option<Kept>, String> {
        Ok(None)
    }

    async fn keep(&self, _: Finished<'_>) -> Result<(), String> {
        Ok(())
    }
}

/// An answer that passed its check.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered<T> {
    /// What the check made of it.
    pub answer: T,
    /// The reply that it stood in.
    pub reply: Reply,
    /// Whether the first reply had to be mended.
    pub mended: bool,
    /// Calls that were made for it: none if the journal had it.
    pub calls: u32,
}

/// Asks for an answer of the call's schema. `check` makes of it what the caller needs, or says what is wrong in words that name
/// fields and hold none of their content.
///
/// # Errors
/// [`LlmError::Malformed`] when the answer is still wrong after one repair; [`LlmError::Declined`]; those of a call.
pub async fn ask<T>(
    llm: &dyn Llm,
    budget: &Budget,
    journal: &dyn Journal,
    call: Call,
    check: impl Fn(&Value) -> Result<T, String> + Send + Sync,
) -> Result<Answered<T>, LlmError>
where
    T: Send,
{
    let digest = call.digest(llm.model());
    let malformed = |reason: String| LlmError::Malformed { model: llm.model().to_owned(), reason };
    let (first, calls) = match journal.find(digest).await.map_err(LlmError::Journal)? {
        Some(Kept::Answered(reply)) => match checked(&call, &reply, &check) {
            Ok((answer, _)) => return Ok(Answered { answer, reply, mended: false, calls: 0 }),
            // The rules have changed since.
            Err(_) => (llm.complete(&call, budget).await?, 1),
        },
        Some(Kept::Malformed(reply)) => (reply, 0),
        Some(Kept::MalformedTwice(reply)) if reply.stop == Stop::Declined => {
            return Err(LlmError::Declined { model: llm.model().to_owned() });
        }
        Some(Kept::MalformedTwice(reply)) => {
            return Err(malformed(checked(&call, &reply, &check).err().unwrap_or_default()));
        }
        None => (llm.complete(&call, budget).await?, 1),
    };
    let keep = async |call: &Call, replies: &[Reply], answer: Option<&Value>| {
        journal.keep(Finished { digest, call, replies, answer }).await.map_err(LlmError::Journal)
    };
    let wrong = match checked(&call, &first, &check) {
        Ok((made, answer)) => {
            keep(&call, std::slice::from_ref(&first), Some(&answer)).await?;
            return Ok(Answered { answer: made, reply: first, mended: false, calls });
        }
        Err(wrong) => wrong,
    };
    if calls > 0 {
        keep(&call, std::slice::from_ref(&first), None).await?;
    }
    if first.stop == Stop::Declined {
        return Err(LlmError::Declined { model: llm.model().to_owned() });
    }
    tracing::info!(model = llm.model(), wrong, "an answer is malformed; the model is asked to mend it");
    let mending = repair(call, &first, &wrong);
    let second = llm.complete(&mending, budget).await?;
    let replies = [first, second];
    let second = checked(&mending, &replies[1], &check);
    keep(&mending, &replies, second.as_ref().ok().map(|(_, answer)| answer)).await?;
    let [_, reply] = replies;
    match second {
        Ok((answer, _)) => Ok(Answered { answer, reply, mended: true, calls: calls + 1 }),
        Err(_) if reply.stop == Stop::Declined => Err(LlmError::Declined { model: llm.model().to_owned() }),
        Err(reason) => Err(malformed(reason)),
    }
}

/// What the check makes of a reply, and the answer that it made it of.
fn checked<T>(call: &Call, reply: &Reply, check: &impl Fn(&Value) -> Result<T, String>) -> Result<(T, Value), String> {
    let of_schema = |value: &Value| call.answer.as_ref().map_or(Ok(()), |schema| schema.check(value));
    let found = extract::answer(&reply.text, |value| of_schema(value).is_ok());
    let Some(answer) = found else {
        return Err(match reply.stop {
            Stop::Length => "the reply was cut off before its JSON was complete; be shorter".to_owned(),
            _ => "the reply holds no JSON object".to_owned(),
        });
    };
    of_schema(&answer)?;
    let made = check(&answer)?;
    Ok((made, answer))
}

/// The call that asks to mend a reply.
fn repair(mut call: Call, reply: &Reply, wrong: &str) -> Call {
    let wrong: String = wrong.chars().take(WRONG_CHARS_MAX).collect();
    // Providers refuse an empty turn.
    let said = if reply.text.trim().is_empty() {
        "(nothing)".to_owned()
    } else {
        reply.text.chars().take(REPLY_CHARS_MAX).collect()
    };
    call.turns.push(Turn { speaker: Speaker::Assistant, text: said });
    let text = format!("That answer cannot be used: {wrong}. Give the whole answer again, corrected.");
    call.turns.push(Turn { speaker: Speaker::User, text });
    call
}
