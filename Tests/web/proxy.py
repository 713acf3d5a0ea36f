"""Serves the page in front of a daemon that does not yet, and passes everything else on."""
from __future__ import annotations

import http.client
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FILES = Path(__file__).resolve().parents[2] / "Sources/XferGateway/Web"
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
          "form-action 'none'; base-uri 'none'; frame-ancestors 'none'")
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


class Proxy:
    """Answers as the daemon will."""

    def __init__(self, daemon_port: int, tls: Path | None = None) -> None:
        daemon = f"127.0.0.1:{daemon_port}"
        scheme = "https" if tls else "http"

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                name = "index.html" if path == "/" else path.removeprefix("/web/")
                file = FILES / name
                if self.command != "GET" or "/" in name or not file.is_file():
                    return self._pass_on()
                content = file.read_bytes()
                self.send_response(200)
                self.send_header("Content-Type", TYPES[file.suffix])
                self.send_header("Content-Security-Policy", POLICY)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_POST = do_DELETE = do_OPTIONS = do_GET

            def _pass_on(self) -> None:
                self.close_connection = True
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
                if headers.get("Origin") == f"{scheme}://{headers['Host']}":
                    headers["Origin"] = f"{scheme}://{daemon}"
                headers["Host"] = daemon
                connection = (http.client.HTTPSConnection(daemon, context=ssl._create_unverified_context()) if tls
                              else http.client.HTTPConnection(daemon))
                try:
                    connection.request(self.command, self.path, body, headers)
                    answer = connection.getresponse()
                    self.send_response(answer.status)
                    for name, value in answer.getheaders():
                        if name.lower() not in ("transfer-encoding", "connection", "content-length", "date"):
                            self.send_header(name, value)
                    self.send_header("Connection", "close")
                    self.end_headers()
                    while portion := answer.read1(1 << 16):
                        self.wfile.write(portion)
                        self.wfile.flush()
                except (OSError, http.client.HTTPException):
                    pass
                finally:
                    connection.close()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls / "tls.pem", tls / "tls.key")
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"{scheme}://127.0.0.1:{self._server.server_port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Ends the proxy."""
        self._server.shutdown()
        self._server.server_close()
