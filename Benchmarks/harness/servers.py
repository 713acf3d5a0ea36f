"""nginx on free ports of 127.0.0.1, and the certificates it shows."""

import os
import pathlib
import shutil
import socket
import subprocess
import urllib.request

from . import processes
from .measure import Failed


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Nginx:
    """nginx with sendfile, over http, over TLS 1.3 and over TLS 1.3 with HTTP/2, as a context.

    `/rate/N/NAME` is NAME at N bytes per second and connection; `/counted/N/NAME` notes besides what was sent. Below
    `/accept` it takes what is sent to it, and notes that.

    `hosts` are more addresses to listen on beside `address`, `connections` the most at a time. `wrapper` is a command
    that runs nginx, in a network namespace for example; `settings` are further lines of its servers.
    """

    def __init__(
            self, place, served, hosts=(), connections=8192, address="127.0.0.1", wrapper=(), settings=""):
        self.place = pathlib.Path(place)
        self.served = pathlib.Path(served)
        self.served.mkdir(parents=True, exist_ok=True)
        self.hosts = hosts
        self.address = address
        self.wrapper = list(wrapper)
        self.settings = settings
        self.connections = connections
        self.port = free_port()
        self.tls_port = free_port()
        self.http2_port = free_port()
        self.authority = self.place / "authority.pem"
        self.counted = self.place / "counted.log"
        self.accepted = Log(self.place / "accepted.log")
        self.connections_made = 0
        self.process = None

    def url(self, name, host=None):
        return f"http://{host or self.address}:{self.port}/{name}"

    def tls_url(self, name):
        return f"https://{self.address}:{self.tls_port}/{name}"

    def http2_url(self, name):
        return f"https://{self.address}:{self.http2_port}/{name}"

    def bytes_sent(self):
        """Counts the bytes of bodies below /counted/, of requests that have ended."""
        lines = self.counted.read_text().splitlines() if self.counted.exists() else []
        return sum(int(line.split()[0]) for line in lines)

    def count_connections(self):
        """Counts the connections that were made since the last call."""
        before = self.connections_made
        self.connections_made = self._status()[0]
        # One is this call's own.
        return self.connections_made - before - 1

    def count_responding(self):
        """Counts the connections that get a response now, but this call's own."""
        return self._status()[1] - 1

    def _status(self):
        """The connections made so far, and those that get a response now."""
        if self.wrapper:
            command = [*self.wrapper, "curl", "-q", "-sf", self.url("status")]
            text = subprocess.run(command, check=True, capture_output=True).stdout
        else:
            with urllib.request.urlopen(self.url("status")) as answer:
                text = answer.read()
        numbers = [int(word) for word in text.split() if word.isdigit()]
        return numbers[1], numbers[5]

    def __enter__(self):
        program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if program is None:
            raise Failed("nginx is not installed")
        self._make_certificates()
        temporary = "".join(
            f"{kind}_temp_path {self.place}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        user = "user root;" if os.getuid() == 0 else ""
        further = " ".join(f"listen {host}:{self.port};" for host in self.hosts)
        config = self.place / "nginx.conf"
        config.write_text(f"""{user} daemon off; master_process off; pid {self.place}/nginx.pid;
            worker_rlimit_nofile {2 * self.connections};
            events {{ worker_connections {self.connections}; }}
            http {{
                access_log off; {temporary}
                log_format counted '$body_bytes_sent $http_range';
                log_format accepted '$request_method $content_length $uri';
                limit_conn_zone $server_addr zone=all:1m;
                sendfile on; tcp_nopush on; keepalive_requests 10000000; reset_timedout_connection on;
                ssl_certificate {self.place}/server.pem; ssl_certificate_key {self.place}/server.key;
                ssl_protocols TLSv1.3; root {self.served};
                server {{
                    listen {self.address}:{self.http2_port} ssl http2 backlog=8192;
                    {self.settings}
                    if ($server_protocol != HTTP/2.0) {{ return 505; }}
                }}
                server {{
                    listen {self.address}:{self.port} backlog=8192;
                    listen {self.address}:{self.tls_port} ssl backlog=8192;
                    {further} {self.settings}
                    location = /status {{ stub_status; }}
                    location = /accept/load {{ access_log {self.place / "load.log"} accepted; return 200 "accepted"; }}
                    location /accept {{ access_log {self.accepted.path} accepted; return 200 "accepted"; }}
                    location ~ ^/rate/(?<rate>[0-9]+)/(?<name>.*)$ {{
                        set $limit_rate $rate; alias {self.served}/$name;
                    }}
                    location ~ ^/counted/(?<rate>[0-9]+)/(?<name>.*)$ {{
                        set $limit_rate $rate; alias {self.served}/$name; access_log {self.counted} counted;
                    }}
                }}
            }}""")
        self.process = processes.start(
            [*self.wrapper, program, "-p", self.place, "-c", config, "-e", f"{self.place}/error.log"])
        processes.wait_until((self.place / "nginx.pid").exists, "nginx", self.process)
        return self

    def __exit__(self, *_):
        processes.stop(self.process)

    def _make_certificates(self):
        def openssl(*words):
            subprocess.run(["openssl", *words], cwd=self.place, check=True, capture_output=True)

        key = ["-newkey", "rsa:2048", "-nodes", "-days", "30"]
        openssl("req", "-x509", *key, "-keyout", "authority.key", "-out", "authority.pem", "-subj", "/CN=authority")
        openssl("req", *key[:3], "-keyout", "server.key", "-out", "server.csr", "-subj", f"/CN={self.address}")
        (self.place / "server.ext").write_text(f"subjectAltName=IP:{self.address}\n")
        openssl(
            "x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial",
            "-days", "30", "-extfile", "server.ext", "-out", "server.pem")


class Log:
    """What nginx notes of requests, a line each."""

    def __init__(self, path):
        self.path = path

    def clear(self):
        os.truncate(self.path, 0)

    def take(self, count):
        """Waits until so many requests have ended. Answers the words of each line, and clears the log."""
        processes.wait_until(lambda: self.path.read_bytes().count(b"\n") >= count, f"{count:,} requests in nginx's log")
        lines = [tuple(line.split()) for line in self.path.read_text().splitlines()]
        self.clear()
        return lines


def write_file(path, size):
    """Bytes that compress badly and repeat only in blocks of 1 MiB."""
    block = os.urandom(min(size, 1 << 20))
    with open(path, "wb") as file:
        while size > 0:
            file.write(block[:size])
            size -= len(block)
