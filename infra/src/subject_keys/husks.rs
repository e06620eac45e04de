//! Blobs of which nothing can be opened any more. Their bytes may be removed; what is kept of them here says so to whoever
//! replays the log.

use super::{KeyError, SUBJECTS_PER_STATEMENT, SubjectKeys};
use crate::bundle::Husk;
use stash_domain::ids::{Digest, OwnerId};
use uuid::Uuid;

impl SubjectKeys {
    /// Notes that a blob may go if no key is left for anything in it, and says whether it may. Asks the database, whatever this
    /// process remembers: a key that is found keeps the blob.
    ///
    /// # Errors
    /// [`KeyError::Database`].
    pub async fn keep_husk(&self, owner: OwnerId, blob: Digest, husk: &Husk) -> Result<bool, KeyError> {
        for chunk in husk.subjects.chunks(SUBJECTS_PER_STATEMENT) {
            let ids: Vec<Uuid> = chunk.iter().map(|subject| subject.0).collect();
            let any: bool =
                sqlx::query_scalar(include_str!("any.sql")).bind(owner.0).bind(ids).fetch_one(&self.0.pool).await?;
            if any {
                return Ok(false);
            }
        }
        sqlx::query(include_str!("keep_husk.sql"))
            .bind(owner.0)
            .bind(blob.0.as_slice())
            .bind(&husk.bytes)
            .execute(&self.0.pool)
            .await?;
        Ok(true)
    }

    /// What is left of a blob.
    pub(super) async fn find_husk(&self, owner: OwnerId, blob: Digest) -> Result<Option<Vec<u8>>, KeyError> {
        let husk = sqlx::query_scalar(include_str!("husk.sql"));
        Ok(husk.bind(owner.0).bind(blob.0.as_slice()).fetch_optional(&self.0.pool).await?)
    }
}
