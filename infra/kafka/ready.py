"""ready.py SECONDS HOST:PORT,... PID...: waits until each broker answers a metadata request and names all the brokers.

Exits 1 as soon as one of the processes is gone, or when the time is up. A broker opens its client port before it takes
part in the cluster, so an open port alone would not do.
"""

import os
import socket
import struct
import sys
import time

METADATA, VERSION = 3, 1
PAUSE_S = 0.1
ANSWER_BYTES_MAX = 1 << 20


def text(data, at):
    """A Kafka string at `at` and the place after it; its length is 16 bits, -1 for null."""
    (length,) = struct.unpack_from(">h", data, at)
    at += 2
    return data[at : at + max(length, 0)], at + max(length, 0)


def receive(sock, count):
    data = b""
    while len(data) < count:
        part = sock.recv(count - len(data))
        if not part:
            raise OSError("closed")
        data += part
    return data


def cluster(address):
    """(number of brokers, id of the controller) as the broker at `address` sees them; asks for no topic."""
    host, port = address.rsplit(":", 1)
    body = struct.pack(">hhih", METADATA, VERSION, 1, -1) + struct.pack(">i", 0)
    with socket.create_connection((host, int(port)), timeout=2) as sock:
        sock.settimeout(2)
        sock.sendall(struct.pack(">i", len(body)) + body)
        (size,) = struct.unpack(">i", receive(sock, 4))
        if not 0 < size <= ANSWER_BYTES_MAX:
            raise OSError("not a Kafka broker")
        data = receive(sock, size)
    (brokers,) = struct.unpack_from(">i", data, 4)
    at = 8
    for _ in range(brokers):
        _, at = text(data, at + 4)  # id, host
        _, at = text(data, at + 4)  # port, rack
    (controller,) = struct.unpack_from(">i", data, at)
    return brokers, controller


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def main():
    until = time.monotonic() + float(sys.argv[1])
    addresses = sys.argv[2].split(",")
    pids = [int(pid) for pid in sys.argv[3:]]
    waiting = list(addresses)
    while waiting:
        try:
            brokers, controller = cluster(waiting[0])
            if brokers == len(addresses) and controller >= 0:
                waiting.pop(0)
                continue
        except (OSError, struct.error):
            pass
        if not all(map(alive, pids)) or time.monotonic() > until:
            sys.exit(1)
        time.sleep(PAUSE_S)


main()
