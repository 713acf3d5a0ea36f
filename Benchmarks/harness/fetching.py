"""The same downloads with one tool after the other."""

import pathlib
import shutil
import tempfile

from . import processes
from .measure import Failed, alternate


def fetch_all(
        bench, outcome, tools, urls, out, expected, daemon, authority=None, warm_up=True, rounds=None, server=None,
        keeps=False):
    """Fetches the same with every tool in turn, checks the sizes of what came, and notes what it cost.

    The connections to `server` are counted, if it is given. With `keeps` nothing is deleted before the end: for minutes
    after a deletion, an ext4 without a journal looks at each inode that was freed for every file that is made.
    """
    out.mkdir(exist_ok=True)

    def run(tool, number):
        place = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=out))
        before = processes.cpu_seconds(daemon.pid)
        took, cpu, peak = tool.fetch(urls, place, authority)
        if [path.stat().st_size for path in place.iterdir()] != expected:
            raise Failed(f"{tool.name} did not fetch everything")
        if not keeps:
            shutil.rmtree(place)
        connections = server.count_connections() if server else 0
        if number == 0:
            return
        if tool.name == "xfer":
            cpu += processes.cpu_seconds(daemon.pid) - before
            peak = processes.memory(daemon.pid, "VmHWM")
        outcome.add("time", tool.name, "s", took)
        outcome.add("processor time", tool.name, "s", cpu)
        outcome.add("peak memory", tool.name, "MB", peak)
        if server:
            outcome.add("new connections", tool.name, "", connections)

    alternate(tools, rounds or bench.rounds, run, warm_up)
    shutil.rmtree(out)
    outcome.notes.append("xfer's processor time is xferctl's and xferd's, its peak memory xferd's since its start.")
