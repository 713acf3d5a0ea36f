#!/usr/bin/python3
"""Programs of users that fetch many small files while xferd is killed twice: one for each client that the guide describes.

    programs.py [--tasks N] [--only NAME …]

Each program (Tests/Campaigns/programs, and xfer-example-many for Swift) is written from the guide alone and knows nothing
of the kills. It gets a daemon of its own, which is killed when half of the tasks are added, and again when three quarters
have completed; a second later it is started again. Afterwards each file is there once, as the server has it, and the
daemon lists each task once, as completed. Prints a table; exit status 1 when anything else was seen.
"""

import argparse
import collections
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from xferd import PATIENCE, PROGRAMS, Daemon

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE / "programs"))
import files  # noqa: E402 (it is beside the programs)

CLIENT = HERE.parents[1] / "clients/python/src"
EXAMPLE = "xfer-example-many"
COMMANDS = {
    "blocking": [sys.executable, HERE / "programs/blocking.py"],
    "asyncio": [sys.executable, HERE / "programs/gathered.py"],
    "lines": ["perl", HERE / "programs/lines.pl"],
    # `make build` does not build examples, `swift build` does.
    "swift": [next(filter(pathlib.Path.exists, [PROGRAMS / EXAMPLE]), HERE.parents[1] / ".build/debug" / EXAMPLE)],
}
#: Seconds that a program may take for a thousand tasks, and for all the rest.
SECONDS_PER_THOUSAND, FURTHER_SECONDS = 30, 120
#: How long the daemon is away after a kill, so that clients find no one there.
AWAY = 1


class FileServer:
    """nginx with the numbered files; it notes the path of each request."""

    def __init__(self, count):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="xfer-campaign-", dir=os.environ.get("XFER_TEST_TMP")))
        self.directory.chmod(0o755)
        self.log = self.directory / "requests"
        served = self.directory / "served"
        served.mkdir()
        for name in files.names(count):
            (served / name).write_bytes(files.content(name))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        paths = "".join(
            f"{kind}_temp_path {self.directory}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (self.directory / "nginx.conf").write_text(f"""
            {"user root;" if os.getuid() == 0 else ""} daemon off; master_process off; pid {self.directory}/nginx.pid;
            events {{ worker_connections 4096; }}
            http {{
                {paths} log_format path '$uri'; access_log {self.log} path;
                server {{ listen 127.0.0.1:{self.port} backlog=4096; root {served}; }}
            }}""")
        program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if program is None:
            sys.exit("nginx is not installed")
        self.process = subprocess.Popen(
            [program, "-p", self.directory, "-c", self.directory / "nginx.conf", "-e", self.directory / "error.log"]
        )
        deadline = time.monotonic() + PATIENCE
        while not (self.directory / "nginx.pid").exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"nginx does not start; see {self.directory}/error.log")
            time.sleep(0.01)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def requests(self):
        """The number of requests since the last call."""
        count = self.log.read_bytes().count(b"\n")
        os.truncate(self.log, 0)
        return count

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=PATIENCE)
        shutil.rmtree(self.directory)


class Run:
    """One program and its daemon."""

    def __init__(self, name, count, server):
        self.name = name
        self.count = count
        self.server = server
        self.daemon = Daemon()
        self.kills = 0
        self.problems = []

    def problem(self, text):
        if len(self.problems) < 20:
            print("PROBLEM", f"{self.name}: {text}", flush=True)
        self.problems.append(text)

    def run(self):
        """The row of the table."""
        self.daemon.start()
        output = self.daemon.directory / "output"
        environment = dict(self.daemon.environment, XFERD_SOCKET=str(self.daemon.socket), PYTHONPATH=str(CLIENT))
        began = time.monotonic()
        with open(output, "wb") as file:
            program = subprocess.Popen(
                [*COMMANDS[self.name], self.server.url, self.daemon.files, str(self.count)],
                env=environment, stdout=file, stderr=subprocess.STDOUT,
            )
        deadline = began + FURTHER_SECONDS + SECONDS_PER_THOUSAND * self.count / 1000
        self.kill_when(program, lambda counts: sum(counts.values()) >= self.count / 2, deadline)
        self.kill_when(program, lambda counts: counts["completed"] >= self.count * 3 / 4, deadline)
        try:
            status = program.wait(timeout=max(0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            program.kill()
            status = f"no end, with {self.daemon.call('queue.stats')['counts']}"
        seconds = time.monotonic() - began
        printed = output.read_text(errors="replace")
        if status != 0 or printed != f"{self.count} files are right\n":
            self.problem(f"the program ended with {status} and printed:\n{printed[:2000]}")
        lost, double = self.check()
        if self.daemon.stop() != 0:
            self.problem("SIGTERM ended xferd with an error")
        row = [self.name, self.count, self.kills, f"{seconds:.0f}", self.server.requests(), lost, double]
        if self.problems:
            print(f"kept: {self.daemon.directory}")
        else:
            self.daemon.remove()
        return row

    def kill_when(self, program, is_time, deadline):
        while program.poll() is None and time.monotonic() < deadline:
            counts = self.daemon.call("queue.stats")["counts"]
            if counts["completed"] == self.count:
                return self.problem(f"all tasks have completed before kill {self.kills + 1}")
            if is_time(counts):
                self.daemon.kill()
                self.kills += 1
                time.sleep(AWAY)
                self.daemon.start()
                return None
            time.sleep(0.01)
        return self.problem(f"the program has ended, or does not go on, before kill {self.kills + 1}")

    def check(self):
        """How many files are lost, and how many are there twice."""
        names = files.names(self.count)
        tasks = self.daemon.all("task.list", "tasks", {"limit": 1000, "fields": ["state", "client_key", "final_path"]})
        for task in tasks:
            if task["state"] != "completed":
                self.problem(f"not completed: {task}")
        keys = collections.Counter(task["client_key"] for task in tasks)
        present = {entry.name for entry in os.scandir(self.daemon.files)}
        lost = [
            name for name in names
            if f"campaign {name}" not in keys or name not in present
            or (self.daemon.files / name).read_bytes() != files.content(name)
        ]
        double = sorted(present.difference(names)) + [key for key, count in keys.items() if count > 1]
        for name in lost:
            self.problem(f"lost: {name}")
        for name in double:
            self.problem(f"double, or of no task: {name}")
        if len(tasks) != self.count:
            self.problem(f"{len(tasks)} tasks are listed")
        return len(lost), len(double)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS), metavar="NAME")
    options = parser.parse_args()
    for name in options.only:
        if shutil.which(COMMANDS[name][0]) is None:
            sys.exit(f"there is no {COMMANDS[name][0]}; `swift build` builds the example")
    server = FileServer(options.tasks)
    problems = 0
    rows = [["program", "tasks", "kills", "seconds", "requests", "lost", "double"]]
    try:
        for name in options.only:
            run = Run(name, options.tasks, server)
            rows.append(run.run())
            problems += len(run.problems)
    finally:
        server.stop()
    for row in rows:
        print(*(f"{cell:>9}" for cell in row))
    print(f"{problems} problems")
    sys.exit(1 if problems else 0)


main()
