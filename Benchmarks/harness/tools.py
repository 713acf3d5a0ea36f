"""What is measured side by side: each fetches a list of URLs into a directory, with what a user would write."""

import pathlib
import shutil

from . import processes, servers
from .rpc import HTTPClient

PARALLEL = 16


class Tool:
    name = ""
    program = ""

    def __init__(self, bench):
        self.bench = bench
        self.errors = bench.place / f"{self.program}.errors"

    def is_installed(self):
        return shutil.which(self.program) is not None

    def run(self, *command, **options):
        return processes.timed(command, errors=self.errors, **options)


class Curl(Tool):
    name = program = "curl"

    def fetch(self, urls, out, authority=None):
        config = "".join(f"url = {url}\nremote-name\n" for url in urls)
        parallel = ["-Z", "--parallel-max", str(PARALLEL)] if len(urls) > 1 else []
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

    def fetch(self, urls, out, authority=None):
        options = ["-q", "--no-config", "--no-hsts", f"--max-threads={PARALLEL}", "--chunk-size=0"]
        trust = [f"--ca-certificate={authority}"] if authority else []
        # wget2 waits for ever if it reads the list from standard input.
        listed = pathlib.Path(self.bench.place / "wget2.urls")
        listed.write_text("\n".join(urls) + "\n")
        return self.run("wget2", *options, *trust, "-P", str(out), "-i", str(listed))


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
