"""JSON-RPC over a Unix socket and WebSockets (xferd) and over HTTP (aria2c), fast enough not to be what is measured."""

import base64
import json
import os
import socket
import struct
import threading
import time

from .measure import Failed


class Client:
    """A connection to xferd: one JSON value a line."""

    def __init__(self, path, timeout=600):
        self.socket = socket.socket(socket.AF_UNIX)
        # With a time limit a full backlog would be an error.
        self.socket.connect(str(path))
        self.socket.settimeout(timeout)
        self.rest = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def call(self, method, **params):
        answer = json.loads(self.exchange(request(method, params)))
        if "error" in answer:
            raise Failed(f"{method}: {answer['error']}")
        return answer["result"]

    def exchange(self, line):
        """Sends a line made before; answers the next line."""
        self.socket.sendall(line)
        return self.line()

    def line(self):
        """The next line that comes."""
        while True:
            end = self.rest.find(b"\n")
            if end >= 0:
                answer, self.rest = self.rest[:end], self.rest[end + 1:]
                return answer
            chunk = self.socket.recv(1 << 16)
            if not chunk:
                raise Failed("xferd closed the connection")
            self.rest += chunk

    def pipeline(self, lines, answers):
        """Sends everything as fast as it is taken, while answers are counted. Answers the seconds until the last."""
        data = b"".join(lines)
        sender = threading.Thread(target=self.socket.sendall, args=(data,), daemon=True)
        begin = time.monotonic()
        sender.start()
        missing = answers
        error = None
        while missing > 0:
            chunk = self.socket.recv(1 << 18)
            if not chunk:
                raise Failed("xferd closed the connection")
            missing -= chunk.count(b"\n")
            if b'"error"' in chunk:
                error = chunk[:500]
        took = time.monotonic() - begin
        sender.join()
        if error:
            raise Failed(f"an answer of the pipeline is an error: {error}")
        return took


def request(method, params, number=1):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


class HTTPClient:
    """A kept connection to aria2c's RPC server."""

    def __init__(self, port, timeout=600):
        self.port = port
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def message(self, method, params):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        head = f"POST /jsonrpc HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode() + body

    def exchange(self, message):
        self.socket.sendall(message)
        data = b""
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self._receive()
        head = data[:end].lower()
        at = head.index(b"content-length:") + 15
        stop = head.find(b"\r\n", at)
        missing = int(head[at:stop if stop > 0 else None]) - (len(data) - end - 4)
        parts = [data[end + 4:]]
        while missing > 0:
            parts.append(self._receive())
            missing -= len(parts[-1])
        return b"".join(parts)

    def _receive(self):
        chunk = self.socket.recv(1 << 20)
        if not chunk:
            raise Failed("aria2c closed the connection")
        return chunk


class WebSocket:
    """A connection to xferd's listener: one JSON value a message. It reads as a `Client` does, so that both can be told
    apart by what the daemon does for them alone."""

    def __init__(self, port, token, timeout=600):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        head = b""
        while b"\r\n\r\n" not in head:
            chunk = self.socket.recv(1)
            if not chunk:
                raise Failed("xferd closed the connection")
            head += chunk
        if b" 101 " not in head.splitlines()[0]:
            raise Failed(f"no WebSocket: {head.splitlines()[0].decode(errors='replace')}")

    def exchange(self, line):
        """Sends a line made before as a masked message; answers the next message."""
        message = line.rstrip(b"\n")
        size = bytes([0x80 | len(message)]) if len(message) < 126 else b"\xfe" + struct.pack(">H", len(message))
        # A mask of zeros is one, too.
        self.socket.sendall(b"\x81" + size + bytes(4) + message)
        _, length = self._read(2)
        if length > 125:
            length = struct.unpack(">H", self._read(2))[0] if length == 126 else struct.unpack(">Q", self._read(8))[0]
        return self._read(length)

    def _read(self, count):
        data = b""
        while len(data) < count:
            chunk = self.socket.recv(count - len(data))
            if not chunk:
                raise Failed("xferd closed the connection")
            data += chunk
        return data
