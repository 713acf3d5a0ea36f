"""nginx on free ports of 127.0.0.1, and the certificates it shows."""

import os
import pathlib
import shutil
import socket
import subprocess

from . import processes
from .measure import Failed


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Nginx:
    """nginx with sendfile, over http and over TLS 1.3, as a context.

    `/rate/N/NAME` is NAME at N bytes per second and connection; `/counted/N/NAME` notes besides what was sent.
    """

    def __init__(self, place, served):
        self.place = pathlib.Path(place)
        self.served = pathlib.Path(served)
        self.served.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.tls_port = free_port()
        self.authority = self.place / "authority.pem"
        self.counted = self.place / "counted.log"
        self.process = None

    def url(self, name):
        return f"http://127.0.0.1:{self.port}/{name}"

    def tls_url(self, name):
        return f"https://127.0.0.1:{self.tls_port}/{name}"

    def bytes_sent(self):
        """Counts the bytes of bodies below /counted/, of requests that have ended."""
        lines = self.counted.read_text().splitlines() if self.counted.exists() else []
        return sum(int(line.split()[0]) for line in lines)

    def __enter__(self):
        program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if program is None:
            raise Failed("nginx is not installed")
        self._make_certificates()
        temporary = "".join(
            f"{kind}_temp_path {self.place}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        user = "user root;" if os.getuid() == 0 else ""
        config = self.place / "nginx.conf"
        config.write_text(f"""{user} daemon off; master_process off; pid {self.place}/nginx.pid;
            worker_rlimit_nofile 16384;
            events {{ worker_connections 8192; }}
            http {{
                access_log off; {temporary}
                log_format counted '$body_bytes_sent $http_range';
                sendfile on; tcp_nopush on; keepalive_requests 10000000; reset_timedout_connection on;
                ssl_certificate {self.place}/server.pem; ssl_certificate_key {self.place}/server.key;
                ssl_protocols TLSv1.3;
                server {{
                    listen 127.0.0.1:{self.port} backlog=8192;
                    listen 127.0.0.1:{self.tls_port} ssl backlog=8192;
                    root {self.served};
                    location ~ ^/rate/(?<rate>[0-9]+)/(?<name>.*)$ {{
                        set $limit_rate $rate; alias {self.served}/$name;
                    }}
                    location ~ ^/counted/(?<rate>[0-9]+)/(?<name>.*)$ {{
                        set $limit_rate $rate; alias {self.served}/$name; access_log {self.counted} counted;
                    }}
                }}
            }}""")
        self.process = processes.start([program, "-p", self.place, "-c", config, "-e", f"{self.place}/error.log"])
        processes.wait_until((self.place / "nginx.pid").exists, "nginx", self.process)
        return self

    def __exit__(self, *_):
        processes.stop(self.process)

    def _make_certificates(self):
        def openssl(*words):
            subprocess.run(["openssl", *words], cwd=self.place, check=True, capture_output=True)

        key = ["-newkey", "rsa:2048", "-nodes", "-days", "30"]
        openssl("req", "-x509", *key, "-keyout", "authority.key", "-out", "authority.pem", "-subj", "/CN=authority")
        openssl("req", *key[:3], "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=127.0.0.1")
        (self.place / "server.ext").write_text("subjectAltName=IP:127.0.0.1\n")
        openssl(
            "x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial",
            "-days", "30", "-extfile", "server.ext", "-out", "server.pem")


def write_file(path, size):
    """Bytes that compress badly and repeat only in blocks of 1 MiB."""
    block = os.urandom(1 << 20)
    with open(path, "wb") as file:
        while size > 0:
            file.write(block[:size])
            size -= len(block)
