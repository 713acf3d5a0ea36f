"""What a fleet's PostgreSQL carries: agents without engines claim tasks and end them at once."""

import os
import pathlib
import shutil
import subprocess

from harness import processes
from harness.measure import Failed, Outcome

AGENTS = 8
# Figures, as fleet-bench names them, with what is asked of them.
ASKED = {
    "claims and ends by 64": 10_000, "claims and ends by 32, one limited host": 2_000, "adds singly": 1_000,
    "adds by 1,000": 30_000,
}


def fleet(bench):
    """Eight agents and the server on this machine, over a Unix socket."""
    outcome = Outcome(f"{AGENTS} simulated agents at one PostgreSQL, ten seconds a figure; all is durable when answered")
    program = bench.programs / "fleet-bench"
    if not program.exists():
        raise Failed(f"{program} is missing: swift build -c release --product fleet-bench")
    place = bench.new_directory("fleet", on_disk=True)
    with Server(place) as server:
        output = subprocess.run(
            [program, server.connection, str(AGENTS), "10", str(bench.many)], check=True, capture_output=True, text=True)
    shutil.rmtree(place)
    rates = {}
    for line in output.stdout.splitlines():
        name, value = line.split("\t")
        rates[name] = float(value)
        outcome.add(name, "fleet", "" if name == "wrong" else "/s", rates[name])
    for name, least in ASKED.items():
        outcome.ask(name, tool="fleet", at_least=least)
    outcome.ask("wrong", tool="fleet", at_most=0)
    outcome.notes.append("claims and ends: each task is claimed and ended; one of each is counted as one.")
    return outcome


class Server:
    """A PostgreSQL of its own, with its default settings for durability."""

    def __init__(self, place):
        versions = sorted(
            (each for each in pathlib.Path("/usr/lib/postgresql").glob("*/bin") if (each / "postgres").exists()),
            key=lambda each: int(each.parent.name))
        if not versions:
            raise Failed("PostgreSQL is not installed")
        self.programs = versions[-1]
        self.place = place
        self.connection = f"host={place} port=5432 user=fleet dbname=postgres"

    def __enter__(self):
        # The directory of all rows is closed to others; the server's user has to pass through it.
        for directory in (self.place.parent, self.place):
            directory.chmod(0o755)
        if os.getuid() == 0:
            shutil.chown(self.place, "postgres", "postgres")
        self._run("initdb", "-D", self.place / "data", "-U", "fleet", "-E", "UTF8", "--locale=C.UTF-8", "-A", "trust")
        self.server = subprocess.Popen(
            self._command(
                "postgres", "-D", self.place / "data", "-k", self.place, "-c", "listen_addresses=", "-c",
                "shared_buffers=1GB", "-c", "max_wal_size=8GB"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        processes.wait_until(lambda: (self.place / ".s.PGSQL.5432").exists(), "PostgreSQL listens")
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()

    def _command(self, program, *arguments):
        command = [str(self.programs / program), *map(str, arguments)]
        if os.getuid() == 0:
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
        return command

    def _run(self, program, *arguments):
        subprocess.run(self._command(program, *arguments), check=True, stdout=subprocess.DEVNULL, cwd="/")
