"""A relay before the daemon's socket: TCP, TLS, tokens, answers that get lost."""
from __future__ import annotations

import socket
import ssl
import subprocess
import threading
from pathlib import Path
from typing import List, Optional

REFUSAL = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 9\r\nConnection: close\r\n\r\nno token\n"


class Relay:
    """Passes bytes on between a TCP port (or a path) and the daemon's Unix socket."""

    def __init__(
        self, target: str, *, path: Optional[str] = None, tls: Optional[ssl.SSLContext] = None,
        token: Optional[str] = None,
    ) -> None:
        self._target, self._tls, self._token = target, tls, token
        self.answers_lost = 0
        """How many connections are to lose their next answer."""
        self._open: List[socket.socket] = []
        if path is None:
            self._listener = socket.create_server(("127.0.0.1", 0))
            self.port = self._listener.getsockname()[1]
        else:
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(path)
            self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            if self._tls is not None:
                client = self._tls.wrap_socket(client, server_side=True)
            daemon = socket.socket(socket.AF_UNIX)
            daemon.connect(self._target)
        except OSError:
            client.close()
            return
        self._open += [client, daemon]
        answering = threading.Thread(target=self._answer, args=(daemon, client), daemon=True)
        answering.start()
        try:
            while data := client.recv(65536):
                if self._token and f"Authorization: Bearer {self._token}\r\n".encode() not in data:
                    client.sendall(REFUSAL)
                    break
                daemon.sendall(data)
        except OSError:
            pass
        end(client, daemon)
        answering.join()
        for each in (client, daemon):
            self._open.remove(each)
            each.close()

    def _answer(self, daemon: socket.socket, client: socket.socket) -> None:
        try:
            while data := daemon.recv(65536):
                if self.answers_lost > 0:
                    self.answers_lost -= 1
                    break
                client.sendall(data)
        except OSError:
            pass
        end(client, daemon)

    def cut(self) -> None:
        """Ends every connection."""
        end(*list(self._open))

    def close(self) -> None:
        """Ends the relay."""
        end(self._listener)
        self._listener.close()
        self.cut()


def end(*sockets: socket.socket) -> None:
    """Ends connections; the thread that reads one closes it."""
    for each in sockets:
        try:
            # Not the method of a TLS socket, which would change its state under the other thread.
            socket.socket.shutdown(each, socket.SHUT_RDWR)
        except OSError:
            pass


def certificate(directory: Path) -> ssl.SSLContext:
    """A server's context with a new certificate for localhost, in DIRECTORY/certificate.pem."""
    file, key = directory / "certificate.pem", directory / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", file],
        check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key)
    return context
