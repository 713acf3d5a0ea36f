"""HTTP/1.1 and server-sent events without input and output: bytes in, answers out."""
from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, Optional, Type

from ._server import Server
from .errors import HTTPStatusError, ProtocolError, UnauthorizedError, UnavailableError

MOST_HEAD_BYTES = 1 << 16
# The daemon sends at most rpc.max_message_bytes, 4 MiB unless configured.
MOST_MESSAGE_BYTES = 1 << 26


def request(
    server: Server, method: str, path: str, token: Optional[str], body: bytes = b"",
    fields: Optional[Mapping[str, str]] = None,
) -> bytes:
    """The bytes of a request."""
    lines = [f"{method} {server.prefix}{path} HTTP/1.1", f"Host: {server.authority}", "User-Agent: xfer-python"]
    if token is not None:
        lines.append(f"Authorization: Bearer {token}")
    if method == "POST":
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (fields or {}).items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def events_request(server: Server, token: Optional[str], since: int) -> bytes:
    """Asks for the events after a sequence number."""
    fields = {"Accept": "text/event-stream", "Last-Event-ID": str(since)}
    return request(server, "GET", "/events", token, fields=fields)


class ResponseReader:
    """Reads one response (RFC 9112): its head, then a body with a length, in chunks, or until the end."""

    def __init__(self) -> None:
        self.status = 0
        self.fields: Dict[str, str] = {}
        self.is_complete = False
        self._buffer = bytearray()
        self._body = bytearray()
        self._has_head = False
        # Bytes that are left of the body or of the current chunk; None until the end of the connection.
        self._left: Optional[int] = 0
        self._is_chunked = False
        self._chunk_part = "size"

    @property
    def has_head(self) -> bool:
        """Whether status and fields are known."""
        return self._has_head

    @property
    def keeps_connection(self) -> bool:
        """Whether another request may follow on this connection."""
        is_last = "close" in self.fields.get("connection", "").lower()
        return self.is_complete and not is_last and not self._buffer and self._left is not None

    def feed(self, data: bytes) -> None:
        """Takes what was received; b"" is the end of the connection."""
        if not data:
            if not self._has_head or self._left is not None:
                raise ConnectionError("the connection ended within a response")
            self.is_complete = True
            return
        self._buffer += data
        if not self._has_head and not self._read_head():
            return
        self._read_body()

    def take_body(self) -> bytes:
        """What has come of the body since the last call."""
        taken = bytes(self._body)
        self._body.clear()
        return taken

    def _read_head(self) -> bool:
        while True:
            end = self._buffer.find(b"\r\n\r\n")
            if end > MOST_HEAD_BYTES or (end < 0 and len(self._buffer) > MOST_HEAD_BYTES):
                raise ProtocolError(f"the head of the response is longer than {MOST_HEAD_BYTES} bytes")
            if end < 0:
                return False
            lines = bytes(self._buffer[:end]).decode("latin-1").split("\r\n")
            del self._buffer[:end + 4]
            version, _, rest = lines[0].partition(" ")
            if not version.startswith("HTTP/1.") or not rest[:3].isdecimal():
                raise ProtocolError(f"expected a status line of HTTP/1.1, found {lines[0][:80]!r}")
            self.status = int(rest[:3])
            if self.status >= 200:
                break
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon:
                raise ProtocolError(f"expected a header field, found {line[:80]!r}")
            self.fields[name.lower()] = value.strip()
        self._has_head = True
        self._is_chunked = self.fields.get("transfer-encoding", "").lower() == "chunked"
        length = self.fields.get("content-length")
        if self.status in (204, 304):
            self._left = 0
        elif not self._is_chunked:
            if length is not None and not (length.isascii() and length.isdecimal()):
                raise ProtocolError(f"expected a number as Content-Length, found {length[:80]!r}")
            self._left = None if length is None else int(length)
        return True

    def _read_body(self) -> None:
        if self._is_chunked:
            while not self.is_complete and self._read_chunk():
                pass
        else:
            self._take(len(self._buffer) if self._left is None else self._left)
            self.is_complete = self._left == 0
        if len(self._body) > MOST_MESSAGE_BYTES:
            raise ProtocolError(f"the response is longer than {MOST_MESSAGE_BYTES} bytes")

    def _take(self, most: int) -> None:
        taken = self._buffer[:most]
        del self._buffer[:most]
        self._body += taken
        if self._left is not None:
            self._left -= len(taken)

    def _read_chunk(self) -> bool:
        """Reads a size line, bytes of a chunk, or a trailer; False when more has to come first."""
        if self._chunk_part == "data":
            self._take(self._left or 0)
            if self._left:
                return False
            self._chunk_part = "end"
        end = self._buffer.find(b"\r\n")
        if end < 0:
            if len(self._buffer) > MOST_HEAD_BYTES:
                raise ProtocolError("a line of the chunked body does not end")
            return False
        line = bytes(self._buffer[:end])
        del self._buffer[:end + 2]
        if self._chunk_part == "end":
            self._chunk_part = "size"
        elif self._chunk_part == "trailer":
            self.is_complete = not line
        else:
            try:
                self._left = int(line.split(b";")[0], 16)
            except ValueError:
                raise ProtocolError(f"expected the size of a chunk, found {line[:80]!r}") from None
            if not 0 <= self._left <= MOST_MESSAGE_BYTES:
                raise ProtocolError(f"a chunk is longer than {MOST_MESSAGE_BYTES} bytes")
            self._chunk_part = "data" if self._left else "trailer"
        return True


def decode_response(reader: ResponseReader) -> Mapping[str, Any]:
    """The JSON-RPC answer in a whole response."""
    body = reader.take_body()
    try:
        answer = json.loads(body)
    except ValueError:
        answer = None
    if isinstance(answer, dict) and "jsonrpc" in answer:
        return answer
    raise status_error(reader.status, body)


def status_error(status: int, body: bytes) -> HTTPStatusError:
    """The error for an answer that is not one of JSON-RPC."""
    text = body[:1000].decode("utf-8", "replace")
    kinds: Dict[int, Type[HTTPStatusError]] = {
        401: UnauthorizedError, 403: UnauthorizedError,
        502: UnavailableError, 503: UnavailableError, 504: UnavailableError,
    }
    return kinds.get(status, HTTPStatusError)(status, text)


class EventStreamReader:
    """Reads server-sent events (HTML Living Standard §9.2) as the daemon writes them: data is JSON."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._data: List[bytes] = []

    def feed(self, data: bytes) -> List[Mapping[str, Any]]:
        """Takes bytes of the stream and gives the events that they complete."""
        self._buffer += data
        events: List[Mapping[str, Any]] = []
        *lines, rest = bytes(self._buffer).split(b"\n")
        self._buffer = bytearray(rest)
        if len(rest) > MOST_MESSAGE_BYTES:
            raise ProtocolError(f"an event is longer than {MOST_MESSAGE_BYTES} bytes")
        for line in lines:
            line = line.rstrip(b"\r")
            if line.startswith(b"data:"):
                self._data.append(line[5:].lstrip(b" "))
            elif not line and self._data:
                text, self._data = b"\n".join(self._data), []
                events.append(decode_message(text))
        return events


def decode_message(text: bytes) -> Mapping[str, Any]:
    """A JSON object."""
    try:
        message = json.loads(text)
    except ValueError as error:
        raise ProtocolError(f"expected JSON, found {text[:80]!r}: {error}") from None
    if not isinstance(message, dict):
        raise ProtocolError(f"expected a JSON object, found {text[:80]!r}")
    return message
