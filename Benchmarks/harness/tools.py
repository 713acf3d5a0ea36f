"""What is measured side by side: each fetches a list of URLs into a directory, with what a user would write."""

import pathlib
import shutil

from . import processes, servers
from .measure import Failed
from .rpc import HTTPClient

PARALLEL = 16


class Tool:
    name = ""
    program = ""

    def __init__(self, bench):
        self.bench = bench
        self.errors = bench.place / f"{self.program}.errors"
        # A command that runs the program, in a network namespace for example.
        self.wrapper = []

    def is_installed(self):
        return shutil.which(self.program) is not None

    def run(self, *command, **options):
        return processes.timed([*self.wrapper, *command], errors=self.errors, **options)


class Curl(Tool):
    name = program = "curl"
    parallel = PARALLEL

    def fetch(self, urls, out, authority=None):
        config = "".join(f"url = {url}\nremote-name\n" for url in urls)
        parallel = ["-Z", "--parallel-max", str(self.parallel)] if len(urls) > 1 else []
        trust = ["--cacert", str(authority)] if authority else []
        return self.run("curl", "-q", "-sSf", *parallel, *trust, "-K", "-", cwd=out, input=config)


class Aria(Tool):
    name = program = "aria2c"
    connections = 1

    def __init__(self, bench, parallel=PARALLEL):
        super().__init__(bench)
        self.parallel = parallel

    def fetch(self, urls, out, authority=None):
        options = ["-q", "--no-conf", "--file-allocation=none", "--max-connection-per-server=16", f"-j{self.parallel}"]
        options += [f"-x{self.connections}", f"-s{self.connections}", "-k1M"]
        trust = [f"--ca-certificate={authority}"] if authority else []
        return self.run("aria2c", *options, *trust, "-d", str(out), "-i", "-", input="\n".join(urls))


class AriaSplit(Aria):
    name = "aria2c -x8"
    connections = 8


class Wget2(Tool):
    name = program = "wget2"
    threads = PARALLEL

    def fetch(self, urls, out, authority=None):
        options = ["-q", "--no-config", "--no-hsts", f"--max-threads={self.threads}", "--chunk-size=0"]
        trust = [f"--ca-certificate={authority}"] if authority else []
        # wget2 waits for ever if it reads the list from standard input.
        listed = pathlib.Path(self.bench.place / "wget2.urls")
        listed.write_text("\n".join(urls) + "\n")
        return self.run("wget2", *options, *trust, "-P", str(out), "-i", str(listed))


class Wget2Once(Wget2):
    """wget2 makes a connection for each of its threads."""

    threads = 1


class Xfer(Tool):
    """From the start of xferctl to its end: the task durable before it begins, the file durable before it ends."""

    name = "xfer"
    program = "xferctl"

    def __init__(self, bench, daemon, *options):
        super().__init__(bench)
        self.daemon = daemon
        self.options = options

    def is_installed(self):
        return True

    def fetch(self, urls, out, authority=None):
        command = [self.daemon.xferctl, "add", "--wait", "-d", str(out), *self.options, "-i", "-"]
        return self.run(*command, input="\n".join(urls) + "\n", env=self.daemon.environment)


class Wrk(Tool):
    """Makes one request again and again over 16 connections, and keeps nothing."""

    name = program = "wrk"
    seconds = 3

    def send(self, url, method, headers, body):
        """Answers requests per second, and processor seconds for each."""
        script = self.bench.place / "wrk.lua"
        fields = "".join(f"wrk.headers[ {_lua(name)} ] = {_lua(value)}\n" for name, value in headers.items())
        script.write_text(
            f"wrk.method = {_lua(method)}\nwrk.body = {_lua(body)}\n{fields}"
            "function done(summary)\n"
            "  local errors = 0\n"
            "  for _, count in pairs(summary.errors) do errors = errors + count end\n"
            "  io.stderr:write(summary.requests, ' ', summary.duration, ' ', errors)\n"
            "end\n")
        _, cpu, _ = self.run("wrk", "-t1", f"-c{PARALLEL}", f"-d{self.seconds}s", "-s", script, url)
        requests, microseconds, errors = map(int, self.errors.read_text().split())
        if errors or not requests:
            raise Failed(f"wrk: {errors:,} of {requests:,} requests failed")
        return requests / (microseconds / 1e6), cpu / requests


def _lua(text):
    """A literal that is the text, which no line break ends."""
    return "[==[" + text + "]==]"


class AriaServer:
    """aria2c that gets its downloads over RPC, as a context. Everything it is given stays paused."""

    def __init__(self, bench, *options):
        self.options = options
        self.port = servers.free_port()
        self.place = bench.new_directory("aria2c", on_disk=True)
        self.process = None

    @property
    def pid(self):
        return self.process.pid

    def __enter__(self):
        self.process = processes.start(
            ["aria2c", "-q", "--no-conf", "--enable-rpc", f"--rpc-listen-port={self.port}", "--pause=true",
             "--rpc-max-request-size=64M", "-d", self.place, *self.options])
        processes.wait_until(self._answers, "aria2c", self.process, every=0.001)
        return self

    def __exit__(self, *_):
        # A plain stop would first store all of its tasks.
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.place, ignore_errors=True)

    def _answers(self):
        try:
            with self.client() as client:
                client.exchange(client.message("aria2.getGlobalStat", []))
            return True
        except OSError:
            return False

    def client(self):
        return HTTPClient(self.port)
