//! The HTTP server of a process.

use super::Stop;
use anyhow::Context as _;
use axum::Router;
use stash_infra::config::Settings;
use std::future::IntoFuture as _;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;

/// How long requests may go on after the server was asked to stop.
const FINISH_MAX: Duration = Duration::from_secs(10);

/// A bound address; connections wait until [`Server::run`].
pub(crate) struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Binds the address of the settings. Done first, since a port in use is the likeliest reason not to start.
    pub(crate) async fn bind(settings: &Settings) -> anyhow::Result<Self> {
        let listen = settings.server.listen;
        let listener = TcpListener::bind(listen).await.map_err(|error| match error.kind() {
            ErrorKind::AddrInUse => anyhow::anyhow!(
                "port {} is in use by another program, perhaps by a Stash that runs already; choose another one with --listen",
                listen.port()
            ),
            _ => anyhow::Error::new(error).context(format!("cannot listen on {listen}")),
        })?;
        let address = listener.local_addr().context("the listening address cannot be read")?;
        Ok(Self { listener, address })
    }

    /// How a program on this machine reaches it; with the port in fact, if the settings left its choice to the system.
    pub(crate) fn url(&self) -> String {
        url_of(self.address)
    }

    /// Answers until asked to stop; then takes no new connections and lets requests finish, for a while.
    pub(crate) async fn run(self, router: Router, stop: Stop) -> anyhow::Result<()> {
        let asked = stop.clone();
        let serving = axum::serve(self.listener, router).with_graceful_shutdown(async move { asked.asked().await });
        let limit = async {
            stop.asked().await;
            tokio::time::sleep(FINISH_MAX).await;
        };
        tokio::select! {
            served = serving.into_future() => served.context("the HTTP server broke down"),
            () = limit => {
                tracing::warn!("requests that did not finish within {} s are broken off", FINISH_MAX.as_secs());
                Ok(())
            }
        }
    }
}

/// The URL of an address; one that stands for all of the machine's is reached by its own name for itself.
fn url_of(address: SocketAddr) -> String {
    if address.ip().is_unspecified() || address.ip().is_loopback() && address.is_ipv4() {
        format!("http://localhost:{}", address.port())
    } else {
        format!("http://{address}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_as_it_can_be_opened() {
        let url = |text: &str| url_of(text.parse().unwrap());
        assert_eq!(url("127.0.0.1:8080"), "http://localhost:8080");
        assert_eq!(url("0.0.0.0:80"), "http://localhost:80");
        assert_eq!(url("[::]:80"), "http://localhost:80");
        assert_eq!(url("[::1]:80"), "http://[::1]:80");
        assert_eq!(url("10.0.0.7:8080"), "http://10.0.0.7:8080");
    }
}
