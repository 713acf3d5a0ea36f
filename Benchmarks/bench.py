#!/usr/bin/python3
"""xfer beside curl, aria2 and wget2: one Markdown table.

    bench.py [--rows big,small] [--size MIB] [--count FILES] [--rounds N] [--programs DIRECTORY] [--dir DIRECTORY]

Every tool fetches the same files from an nginx of our own on a free port of 127.0.0.1 to the same file system, in
alternating order, and what arrived is checked. Medians count; absolute figures say little about other machines, the
ratios do. xfer's figure is what a user waits for: xferctl from its start to its end, the task durable before it begins
and the file durable before it ends; the others promise neither. Nothing here is a test.
"""

import argparse
import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

PARALLEL = 16


def main():
    arguments = parsed_arguments()
    with tempfile.TemporaryDirectory(prefix="xfer-bench-", dir=arguments.dir) as scratch:
        place = pathlib.Path(scratch)
        served = place / "served"
        served.mkdir()
        with Server(place, served) as server, Daemon(place, arguments.programs) as daemon:
            tools = [Curl(), Aria(), Wget2(), Xfer(daemon, arguments.programs)]
            tools = [tool for tool in tools if tool.is_installed()]
            print(f"One run each to warm up, then {arguments.rounds} alternating; seconds.\n", flush=True)
            print("| work | tool | median | fastest | slowest | ÷ curl | ÷ aria2c |\n|---|---|---|---|---|---|---|")
            for row in arguments.rows.split(","):
                work = WORKS[row](arguments, served, server)
                report(work, tools, measured(work, tools, place / "out", arguments.rounds))


def parsed_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="big,small")
    parser.add_argument("--size", type=int, default=1024, help="MiB of the big file")
    parser.add_argument("--count", type=int, default=1000, help="small files, 4 KiB each")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--programs", type=pathlib.Path, default=pathlib.Path(".build/release"))
    parser.add_argument("--dir", help="where files go; default the system's temporary directory")
    arguments = parser.parse_args()
    if unknown := set(arguments.rows.split(",")) - set(WORKS):
        parser.error(f"unknown rows: {', '.join(sorted(unknown))}; there are {', '.join(WORKS)}")
    arguments.programs = arguments.programs.resolve()
    return arguments


class BigFile:
    """One file in one stream."""

    def __init__(self, arguments, served, server):
        self.name = f"one file of {arguments.size} MiB over http"
        self.size = arguments.size << 20
        block = os.urandom(1 << 20)
        with open(served / "big", "wb") as file:
            for _ in range(arguments.size):
                file.write(block)
        self.urls = [server.url("big")]

    def check(self, directory):
        return sizes(directory) == [self.size]


class SmallFiles:
    """Many files at once; for xfer each is a durable task."""

    def __init__(self, arguments, served, server):
        self.name = f"{arguments.count:,} files of 4 KiB over http, {PARALLEL} at a time"
        names = [f"small-{number:05}" for number in range(arguments.count)]
        for name in names:
            (served / name).write_bytes(os.urandom(4096))
        self.urls = [server.url(name) for name in names]

    def check(self, directory):
        return sizes(directory) == [4096] * len(self.urls)


WORKS = {"big": BigFile, "small": SmallFiles}


def sizes(directory):
    return [path.stat().st_size for path in directory.iterdir()]


def measured(work, tools, out, rounds):
    seconds = {tool.name: [] for tool in tools}
    for number in range(rounds + 1):
        # Another order each time, so that nobody always follows the same one.
        for tool in tools[number % len(tools):] + tools[:number % len(tools)]:
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            begin = time.monotonic()
            tool.fetch(work.urls, out)
            took = time.monotonic() - begin
            if not work.check(out):
                sys.exit(f"bench.py: {tool.name} did not fetch everything: {work.name}")
            if number > 0:
                seconds[tool.name].append(took)
    return seconds


def report(work, tools, seconds):
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    for tool in tools:
        times = seconds[tool.name]
        ratios = [f"{medians[tool.name] / medians[base]:.2f}" if base in medians else "–" for base in ("curl", "aria2c")]
        figures = [f"{value:.3f}" for value in (medians[tool.name], min(times), max(times))]
        print("| " + " | ".join([work.name, tool.name, *figures, *ratios]) + " |", flush=True)


class Tool:
    name = ""

    def is_installed(self):
        return shutil.which(self.name) is not None

    def run(self, *command, **options):
        result = subprocess.run(command, capture_output=True, text=True, **options)
        if result.returncode != 0:
            sys.exit(f"bench.py: {self.name} ended with {result.returncode}: {result.stderr[-2000:]}")


class Curl(Tool):
    name = "curl"

    def fetch(self, urls, out):
        config = "".join(f"url = {url}\nremote-name\n" for url in urls)
        parallel = ["-Z", "--parallel-max", str(PARALLEL)] if len(urls) > 1 else []
        self.run("curl", "-sSf", *parallel, "-K", "-", cwd=out, input=config)


class Aria(Tool):
    name = "aria2c"

    def fetch(self, urls, out):
        options = ["-q", "--no-conf", "--file-allocation=none", "--max-connection-per-server=16", "-x1", f"-j{PARALLEL}"]
        self.run("aria2c", *options, "-d", str(out), "-i", "-", input="\n".join(urls))


class Wget2(Tool):
    name = "wget2"

    def fetch(self, urls, out):
        options = ["-q", "--no-config", "--no-hsts", f"--max-threads={PARALLEL}", "--chunk-size=0"]
        # From standard input it waits for ever.
        with tempfile.NamedTemporaryFile("w") as urls_file:
            urls_file.write("\n".join(urls) + "\n")
            urls_file.flush()
            self.run("wget2", *options, "-P", str(out), "-i", urls_file.name)


class Xfer(Tool):
    name = "xfer"

    def __init__(self, daemon, programs):
        self.daemon = daemon
        self.program = str(programs / "xferctl")

    def is_installed(self):
        return True

    def fetch(self, urls, out):
        environment = {**os.environ, "XFERD_SOCKET": self.daemon.socket}
        command = [self.program, "add", "--wait", "-d", str(out), "-i", "-"]
        self.run(*command, input="\n".join(urls), env=environment)


class Server:
    """nginx with sendfile, as a context."""

    def __init__(self, place, served):
        self.place = place
        self.served = served
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]

    def url(self, name):
        return f"http://127.0.0.1:{self.port}/{name}"

    def __enter__(self):
        program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if program is None:
            sys.exit("bench.py: nginx is not installed")
        temporary = "".join(
            f"{kind}_temp_path {self.place}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        user = "user root;" if os.getuid() == 0 else ""
        config = self.place / "nginx.conf"
        config.write_text(f"""{user} daemon off; master_process off; pid {self.place}/nginx.pid;
            events {{ worker_connections 4096; }}
            http {{ access_log off; {temporary} sendfile on; tcp_nopush on; keepalive_requests 1000000;
                server {{ listen 127.0.0.1:{self.port} backlog=4096; root {self.served}; }} }}""")
        self.process = subprocess.Popen(
            [program, "-p", str(self.place), "-c", str(config), "-e", f"{self.place}/error.log"])
        wait_until(lambda: (self.place / "nginx.pid").exists(), self.process, "nginx")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Daemon:
    """A private xferd, as a context."""

    def __init__(self, place, programs):
        self.place = place
        self.program = programs / "xferd"
        self.socket = str(place / "xferd.sock")

    def __enter__(self):
        config = self.place / "config.yaml"
        config.write_text(f"""
download: {{ dir: "{self.place}", roots: ["{self.place}"], reserve: 1Mi }}
queue: {{ max_active: {PARALLEL}, max_active_per_host: {PARALLEL} }}
log: {{ level: warning }}
""")
        self.process = subprocess.Popen(
            [self.program, "--config", config, "--state-dir", self.place / "state", "--socket", self.socket,
             "--foreground-log"])
        wait_until(self.answers, self.process, "xferd")
        return self

    def answers(self):
        try:
            with socket.socket(socket.AF_UNIX) as probe:
                probe.connect(self.socket)
            return True
        except OSError:
            return False

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def wait_until(is_ready, process, name):
    while not is_ready():
        if process.poll() is not None:
            sys.exit(f"bench.py: {name} ended at its start")
        time.sleep(0.01)


if __name__ == "__main__":
    main()
