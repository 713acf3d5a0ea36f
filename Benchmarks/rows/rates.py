"""Whether limits are true: what arrives over five seconds, against what is allowed."""

import os
import shutil
import time

from harness import processes
from harness.daemon import Daemon
from harness.measure import Outcome
from harness.servers import Nginx

LIMITS = {"64 KiB/s": 64 << 10, "1 MiB/s": 1 << 20, "50 MiB/s": 50 << 20}
SECONDS = 5
# libcurl's first chunks come before xferd can hold them back; after that the limit has to hold.
SETTLING = 1.5


def rates(bench):
    outcome = Outcome(f"limits of the service, what arrives in {SECONDS} s, in per cent of what is allowed")
    memory = bench.new_directory("memory")
    out = memory / "out"
    with Nginx(memory, memory / "served") as server:
        for name, limit in LIMITS.items():
            for active in (1, 4, 32):
                # Sparse: its zeros need not be written. Twenty seconds' worth, since xferd sets the space for all aside.
                with open(server.served / "file", "wb") as file:
                    file.truncate(max(20 * limit // active, 8 << 20))
                shutil.rmtree(out, ignore_errors=True)
                out.mkdir()
                with Daemon(bench, f"bandwidth: {{ recv: {limit} }}", parallel=active, roots=[memory]) as daemon:
                    daemon.fill(active, lambda index: {"url": server.url(f"file?{index}"), "dir": str(out)})
                    processes.wait_until(lambda: daemon.counts().get("running") == active, "the transfers")
                    time.sleep(SETTLING)
                    outcome.add(f"{name}, {active} active", "xfer", "%", 100 * _rate(out) / limit)
    shutil.rmtree(memory)
    for figure in list(outcome.figures):
        outcome.ask(figure.what, at_least=90, worst=True)
        outcome.ask(figure.what, at_most=110, worst=True)
    return outcome


def _rate(directory):
    """Bytes per second by which what lies in the directory grows."""
    def size():
        return sum(entry.stat().st_size for entry in os.scandir(directory))

    begin, before = time.monotonic(), size()
    time.sleep(SECONDS)
    after, end = size(), time.monotonic()
    return (after - before) / (end - begin)
