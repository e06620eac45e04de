"""plan.py BROKERS PORT: prints the settings that a new folder of brokers keeps for good: ports and identities.

With PORT 0 free ports are picked from below the range that the kernel hands out for outgoing connections, so that a
broker which is down for a while finds its port free again.
"""

import base64
import contextlib
import os
import random
import socket
import sys

PICK_FROM = range(20000, 32000)
TRIES = 1000


def free_ports(count):
    """`count` distinct ports of 127.0.0.1 that nothing listens on, all held until the last is found."""
    ports = []
    with contextlib.ExitStack() as held:
        for port in random.SystemRandom().sample(PICK_FROM, TRIES):
            sock = held.enter_context(socket.socket())
            try:
                sock.bind(("127.0.0.1", port))
            except OSError:
                continue
            ports.append(port)
            if len(ports) == count:
                return ports
    sys.exit("kafka: error: no free ports")


def kafka_uuid():
    """A random id as Kafka writes it: 22 characters of URL-safe base64; one that looks like an option is not used."""
    while True:
        text = base64.urlsafe_b64encode(os.urandom(16)).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def main():
    brokers, port = int(sys.argv[1]), int(sys.argv[2])
    ports = free_ports(2 * brokers) if port == 0 else list(range(port, port + 2 * brokers))
    print(f"brokers={brokers}")
    print("ports=" + " ".join(map(str, ports[:brokers])))
    print("controller_ports=" + " ".join(map(str, ports[brokers:])))
    print(f"cluster={kafka_uuid()}")
    print("directory_ids=" + " ".join(kafka_uuid() for _ in range(brokers)))


main()
