//! Stopping and hanging the services of a site. All of it blocks.

use super::site::{Service, Site};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::path::Path;

impl Site {
    /// Ends a service; its data stay.
    pub(crate) fn stop_service(&self, service: Service) {
        match service {
            Service::Postgres => self.server().stop(),
            Service::Broker => self.broker().kill(1),
        }
    }

    /// Starts it again.
    pub(crate) fn start_service(&self, service: Service) {
        match service {
            Service::Postgres => self.server().start_again(),
            Service::Broker => self.broker().start_again(),
        }
    }

    /// Lets a service hang: its connections stay and nothing answers on them.
    pub(crate) fn freeze(&self, service: Service) {
        self.signal(service, Signal::SIGSTOP);
    }

    /// Lets it go on.
    pub(crate) fn thaw(&self, service: Service) {
        self.signal(service, Signal::SIGCONT);
    }

    fn server(&self) -> &stash_infra::testing::Postgres {
        self.postgres.as_ref().expect("a site with a database server beside it")
    }

    fn broker(&self) -> &stash_infra::testing::Kafka {
        self.kafka.as_ref().expect("a site with a broker")
    }

    fn signal(&self, service: Service, signal: Signal) {
        let main = match service {
            Service::Postgres => {
                let options = self.pool.connect_options();
                pid_in(&options.get_socket().expect("a socket").join("data/postmaster.pid"))
            }
            Service::Broker => pid_in(&self.broker().folder().join("brokers/node-1/pid")),
        };
        // The main process first, so that it starts no others meanwhile.
        kill(Pid::from_raw(main), signal).expect("a signal");
        for child in children(main) {
            // It may have ended since it was listed.
            let _ = kill(Pid::from_raw(child), signal);
        }
    }
}

/// The process id in the first line of a file.
fn pid_in(file: &Path) -> i32 {
    let text = fs::read_to_string(file).expect("a file with a process id");
    text.lines().next().and_then(|line| line.trim().parse().ok()).expect("a process id")
}

/// Children of a process.
fn children(parent: i32) -> Vec<i32> {
    let is_child = |pid: &i32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().any(|line| line.strip_prefix("PPid:").is_some_and(|id| id.trim() == parent.to_string()))
    };
    let all = fs::read_dir("/proc").expect("/proc").flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_child).collect()
}
