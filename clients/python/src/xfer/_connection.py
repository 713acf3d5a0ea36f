"""Blocking connections: a message a line, or HTTP."""
from __future__ import annotations

import socket
import ssl
from typing import Any, Callable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _http
from ._calls import Deadline, Options, late, lost
from ._server import Server, advice
from .errors import NoDaemonError, ProtocolError

CHUNK = 1 << 16


class Link:
    """A connected socket whose operations end at a deadline."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock

    def send(self, data: bytes, deadline: Deadline) -> None:
        """Sends everything."""
        self._socket.settimeout(_positive(deadline.remaining))
        self._socket.sendall(data)

    def receive(self, deadline: Deadline) -> bytes:
        """Some bytes; b"" at the end."""
        self._socket.settimeout(_positive(deadline.remaining))
        return self._socket.recv(CHUNK)

    @property
    def is_usable(self) -> bool:
        """Whether the other side has neither closed an idle connection nor sent what was not asked for."""
        self._socket.setblocking(False)
        try:
            self._socket.recv(1)
        except (BlockingIOError, ssl.SSLWantReadError):
            return True
        except OSError:
            return False
        return False

    def interrupt(self) -> None:
        """Ends a `receive` of another thread, which closes the connection then.

        Closed here, the descriptor could be another connection's while that thread still reads it.
        """
        try:
            # Not the method of a TLS socket, which would change its state under the other thread.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
        except OSError:
            pass

    def close(self) -> None:
        """Ends the connection; no other thread may use it."""
        self._socket.close()


def _positive(seconds: Optional[float]) -> Optional[float]:
    # 0 would be a socket that does not block.
    return None if seconds is None else max(seconds, 1e-6)


class LineConnection:
    """A connection on which each line is a message."""

    def __init__(self, server: Server, link: Link, options: Options) -> None:
        self.server = server
        self._link = link
        self._buffer = bytearray()

    @property
    def is_usable(self) -> bool:
        """Whether a call may be sent."""
        return not self._buffer and self._link.is_usable

    def exchange(self, method: str, message: bytes, seconds: Optional[float]) -> Mapping[str, Any]:
        """Sends a call and waits for its answer; nothing else is under way on this connection."""
        deadline = Deadline(seconds)
        try:
            self._link.send(message + b"\n", deadline)
            while True:
                answer = self.next_message(deadline)
                if "method" not in answer:
                    return answer
        except socket.timeout:
            raise late(method, seconds) from None
        except OSError as error:
            raise lost(method, error) from None

    def next_message(self, deadline: Deadline) -> Mapping[str, Any]:
        """The next line."""
        begin = 0
        while True:
            end = self._buffer.find(b"\n", begin)
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[:end + 1]
                return _http.decode_message(line)
            begin = len(self._buffer)
            if begin > _http.MOST_MESSAGE_BYTES:
                raise ProtocolError(f"a message is longer than {_http.MOST_MESSAGE_BYTES} bytes")
            data = self._link.receive(deadline)
            if not data:
                raise ConnectionError("the daemon closed it")
            self._buffer += data

    def notifications(self, idle: Callable[[], Deadline]) -> Iterator[Mapping[str, Any]]:
        """The events of the subscription; `idle` says until when the next one has to come."""
        while True:
            try:
                message = self.next_message(idle())
            except socket.timeout:
                raise late("events", None) from None
            except OSError as error:
                raise lost("events", error) from None
            if message.get("method") == "event":
                yield message["params"]

    def interrupt(self) -> None:
        """Ends what another thread waits for here."""
        self._link.interrupt()

    def close(self) -> None:
        """Ends the connection."""
        self._link.close()


class HTTPConnection:
    """A connection on which each message is a request and its response."""

    def __init__(self, server: Server, link: Link, options: Options) -> None:
        self.server = server
        self._link = link
        self._token = options.token
        self._is_kept = True
        self._stream = _http.ResponseReader()

    @property
    def is_usable(self) -> bool:
        """Whether a request may be sent."""
        return self._is_kept and self._link.is_usable

    def exchange(self, method: str, message: bytes, seconds: Optional[float]) -> Mapping[str, Any]:
        """Sends a call and waits for its answer."""
        deadline = Deadline(seconds)
        reader = _http.ResponseReader()
        self._is_kept = False
        try:
            self._link.send(_http.request(self.server, "POST", "/rpc", self._token, message), deadline)
            while not reader.is_complete:
                reader.feed(self._link.receive(deadline))
        except socket.timeout:
            raise late(method, seconds) from None
        except OSError as error:
            raise lost(method, error) from None
        self._is_kept = reader.keeps_connection
        return _http.decode_response(reader)

    def begin_events(self, since: int, seconds: float) -> None:
        """Asks for the stream /events; `notifications` reads it."""
        deadline = Deadline(seconds)
        reader = self._stream
        self._is_kept = False
        try:
            self._link.send(_http.events_request(self.server, self._token, since), deadline)
            while not reader.has_head or (reader.status != 200 and not reader.is_complete):
                reader.feed(self._link.receive(deadline))
        except socket.timeout:
            raise late("events", seconds) from None
        except OSError as error:
            raise lost("events", error) from None
        if reader.status != 200:
            raise _http.status_error(reader.status, reader.take_body())

    def notifications(self, idle: Callable[[], Deadline]) -> Iterator[Mapping[str, Any]]:
        """The events of the stream; `idle` says until when the next one has to come."""
        events = _http.EventStreamReader()
        while True:
            yield from events.feed(self._stream.take_body())
            try:
                if self._stream.is_complete:
                    raise ConnectionError("the daemon ended the stream")
                self._stream.feed(self._link.receive(idle()))
            except socket.timeout:
                raise late("events", None) from None
            except OSError as error:
                raise lost("events", error) from None

    def interrupt(self) -> None:
        """Ends what another thread waits for here."""
        self._link.interrupt()

    def close(self) -> None:
        """Ends the connection."""
        self._link.close()


Connection = Union[LineConnection, HTTPConnection]


def connect(servers: Sequence[Server], has_address: bool, options: Options) -> Connection:
    """A connection to the first server that accepts one."""
    tried: List[str] = []
    deadline = Deadline(options.timeout)
    for server in servers:
        try:
            link = Link(_open(server, options, _positive(deadline.remaining)))
        except OSError as error:
            tried.append(f"{server}: {error.strerror or error}")
            continue
        kind = HTTPConnection if server.is_http else LineConnection
        return kind(server, link, options)
    raise NoDaemonError(advice(tried, has_address))


def _open(server: Server, options: Options, timeout: Optional[float]) -> socket.socket:
    if server.socket is not None:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(timeout)
            sock.connect(server.socket)
        except BaseException:
            sock.close()
            raise
        return sock
    address: Tuple[str, int] = (server.host, server.port)
    sock = socket.create_connection(address, timeout)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A stream of events may be silent for hours; without this a peer that vanished is never noticed.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if server.is_tls and options.tls is not None:
            return options.tls.wrap_socket(sock, server_hostname=server.host)
        return sock
    except BaseException:
        sock.close()
        raise
