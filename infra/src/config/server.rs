//! Where Stash is reached.

use super::environment::{Environment, SettingError};
use super::kinds::{Address, Setting};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

const LISTEN: Address = Address {
    name: "STASH_LISTEN",
    default: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080),
    doc: "Address of the HTTP server. Only this machine reaches the default; put a proxy with TLS before any other.",
};

pub(super) const SETTINGS: &[&dyn Setting] = &[&LISTEN];

/// Where it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// Address of the HTTP server.
    pub listen: SocketAddr,
}

impl ServerSettings {
    /// Reads them.
    ///
    /// # Errors
    /// [`SettingError`].
    pub fn read(environment: &Environment) -> Result<Self, SettingError> {
        Ok(Self { listen: LISTEN.read(environment)? })
    }
}
