//! What `stash up` does once, when there is no account yet: the operator's account and key, and the sample.

mod base;
pub(crate) mod sample;

pub(crate) use base::{BASE_NAME, ensure_base};

use crate::client::ConnectionFile;
use crate::output;
use crate::wiring::Foundation;
use stash_infra::identity::{NewAccount, NewKey, Role, Scope};

/// Address of the account that is made.
pub(crate) const OPERATOR: &str = "operator@localhost";

/// Name of the key that is made.
const KEY_NAME: &str = "made at first start";

/// How this server is reached, as far as this process knows a key.
#[derive(Clone)]
pub(crate) struct Connection {
    /// Where it is.
    pub(crate) url: String,
    /// The operator's key; none unless it was made just now.
    pub(crate) new_key: Option<String>,
    /// Where address and key are written down.
    file: std::path::PathBuf,
}

impl Connection {
    /// This, if the key was made just now.
    pub(crate) fn if_new(self) -> Option<Self> {
        self.new_key.is_some().then_some(self)
    }
}

/// Makes the operator's account and key unless there is an account with a key already, and writes down where the server is.
pub(crate) async fn prepare(foundation: &Foundation, url: &str) -> anyhow::Result<Connection> {
    let data = &foundation.settings.data.folder;
    let file = ConnectionFile::path(data);
    let url = url.to_owned();
    if let Some(key) = operator_key(foundation).await? {
        ConnectionFile { url: url.clone(), key: key.clone() }.save(data)?;
        return Ok(Connection { url, new_key: Some(key), file });
    }
    match ConnectionFile::load(data) {
        // The port may be another one than last time.
        Ok(Some(known)) if known.url != url => ConnectionFile { url: url.clone(), ..known }.save(data)?,
        Ok(_) => {}
        Err(error) => tracing::warn!("{error:#}"),
    }
    Ok(Connection { url, new_key: None, file })
}

/// A new key of a new operator; none if this is not the first start.
async fn operator_key(foundation: &Foundation) -> anyhow::Result<Option<String>> {
    let identity = &foundation.identity;
    let accounts = identity.accounts().await?;
    let operator = match accounts.as_slice() {
        [] => {
            let new = NewAccount { email: OPERATOR.to_owned(), name: "Operator".to_owned(), role: Role::Operator };
            let (account, change) = identity.create_account_if_new(&new).await?;
            foundation.record_change(change).await;
            account
        }
        // The first start ended between the account and its key.
        [only] if only.email == OPERATOR => only.clone(),
        _ => return Ok(None),
    };
    if !identity.keys(operator.id).await?.is_empty() {
        return Ok(None);
    }
    let new = NewKey { account_id: operator.id, scope: Scope::Full, name: KEY_NAME.to_owned(), expires_at: None };
    let (key, _, change) = identity.create_key(&new).await?;
    foundation.record_change(Some(change)).await;
    Ok(Some(key.expose().to_owned()))
}

/// Says where the server is, and at the first start the key.
pub(crate) fn announce(url: &str, connection: &Connection) -> anyhow::Result<()> {
    output::line(format_args!("Stash is at {url}"))?;
    if let Some(key) = &connection.new_key {
        output::line(format_args!(
            "\n  account   {OPERATOR}\n  API key   {key}\n\nThe key is shown once. Commands on this machine find it in {}.\n",
            connection.file.display()
        ))?;
    }
    Ok(())
}
