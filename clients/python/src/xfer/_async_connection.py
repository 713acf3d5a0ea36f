"""Connections for asyncio: a message a line, or HTTP."""
from __future__ import annotations

import asyncio
import socket
from typing import Any, AsyncIterator, Awaitable, Callable, Dict, List, Mapping, Optional, Sequence, TypeVar, Union

from . import _http
from ._calls import Deadline, Options, late, lost
from ._server import Server, advice
from .errors import NoDaemonError, ProtocolError, XferError

T = TypeVar("T")
CHUNK = 1 << 16
# The daemon reads no further request of a connection on which 64 are under way.
MOST_CALLS = 32


async def bounded(operation: Awaitable[T], seconds: Optional[float], discard: Optional[Callable[[T], None]] = None) -> T:
    """The operation's result, or asyncio.TimeoutError after `seconds`.

    Before Python 3.12 asyncio.wait_for loses a cancellation that comes together with the result, and its caller goes on.
    A result that nobody receives goes to `discard`.
    """
    work = asyncio.ensure_future(operation)
    try:
        await asyncio.wait({work}, timeout=seconds)
        if not work.done():
            raise asyncio.TimeoutError()
    except BaseException:
        work.cancel()
        await asyncio.wait({work})
        # An error that is not retrieved would be logged.
        if not work.cancelled() and work.exception() is None and discard is not None:
            discard(work.result())
        raise
    return work.result()


async def within(seconds: Optional[float], method: str, operation: Awaitable[T]) -> T:
    """The operation's result, or an error of this package."""
    try:
        return await bounded(operation, seconds)
    except (asyncio.TimeoutError, socket.timeout):
        raise late(method, seconds) from None
    except (OSError, asyncio.IncompleteReadError) as error:
        if isinstance(error, XferError):
            raise
        ended = isinstance(error, asyncio.IncompleteReadError)
        raise lost(method, "the daemon closed it" if ended else error) from None


class AsyncLineConnection:
    """A connection on which each line is a message. Many calls are under way at the same time."""

    def __init__(
        self, server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, options: Options,
    ) -> None:
        self.server = server
        self._reader = reader
        self._writer = writer
        self._answers: Dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._events: asyncio.Queue[Optional[Mapping[str, Any]]] = asyncio.Queue()
        # How many events may wait to be read; beyond it the connection is not read either.
        self._room = asyncio.Semaphore(1000)
        self._error: Optional[BaseException] = None
        self._reading = asyncio.ensure_future(self._read())

    @property
    def is_usable(self) -> bool:
        """Whether a call may be sent."""
        return not self.is_ended and len(self._answers) < MOST_CALLS

    @property
    def is_ended(self) -> bool:
        """Whether no call will ever be answered again."""
        return self._error is not None or self._reader.at_eof()

    async def exchange(self, method: str, identity: int, message: bytes, seconds: Optional[float]) -> Mapping[str, Any]:
        """Sends a call and waits for its answer."""
        answer: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[identity] = answer

        async def send_and_wait() -> Mapping[str, Any]:
            # The connection may have been refused, or have ended, since it was chosen: asyncio logs writes to it then.
            if not answer.done():
                if self.is_ended or self._writer.is_closing():
                    raise ConnectionError(self._error or "the daemon closed it")
                self._writer.write(message + b"\n")
                await self._writer.drain()
            return await answer

        try:
            return await within(seconds, method, send_and_wait())
        finally:
            self._answers.pop(identity, None)
            # If the write failed first, no one waits for the answer: asyncio logs an error that is not retrieved.
            if answer.done() and not answer.cancelled():
                answer.exception()

    async def _read(self) -> None:
        try:
            while True:
                message = _http.decode_message(await self._reader.readuntil(b"\n"))
                if message.get("method") == "event":
                    await self._room.acquire()
                    self._events.put_nowait(message["params"])
                elif message.get("id") is None:
                    # The daemon refuses the connection or a message, and says why.
                    self._fail_with_answer(message)
                else:
                    answer = self._answers.get(message["id"])
                    if answer is not None and not answer.done():
                        answer.set_result(message)
        except asyncio.IncompleteReadError:
            self._end(ConnectionError("the daemon closed it"))
        except asyncio.LimitOverrunError:
            self._end(ProtocolError(f"a message is longer than {_http.MOST_MESSAGE_BYTES} bytes"))
        except (OSError, ProtocolError) as error:
            self._end(error)
        except (KeyError, TypeError) as error:
            self._end(ProtocolError(f"a message is not what xferd sends: {error!r}"))
        except asyncio.CancelledError:
            self._end(ConnectionError("it was closed"))
            raise

    def _fail_with_answer(self, message: Mapping[str, Any]) -> None:
        for answer in self._answers.values():
            if not answer.done():
                answer.set_result(message)

    def _end(self, error: Exception) -> None:
        self._error = error
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(error)
        self._events.put_nowait(None)
        self._writer.close()

    async def notifications(self, idle: Callable[[], Deadline]) -> AsyncIterator[Mapping[str, Any]]:
        """The events of the subscription; `idle` says until when the next one has to come."""
        while True:
            event = await within(idle().remaining, "events", self._events.get())
            if event is None:
                raise lost("events", self._error)
            self._room.release()
            yield event

    def close(self) -> None:
        """Ends the connection."""
        self._reading.cancel()
        self._writer.close()


class AsyncHTTPConnection:
    """A connection on which each message is a request and its response."""

    def __init__(
        self, server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, options: Options,
    ) -> None:
        self.server = server
        self._reader = reader
        self._writer = writer
        self._token = options.token
        self._is_kept = True
        self._stream = _http.ResponseReader()

    @property
    def is_usable(self) -> bool:
        """Whether a request may be sent."""
        return not self.is_ended

    @property
    def is_ended(self) -> bool:
        """Whether no request will ever be answered again."""
        return not self._is_kept or self._reader.at_eof()

    async def exchange(self, method: str, identity: int, message: bytes, seconds: Optional[float]) -> Mapping[str, Any]:
        """Sends a call and waits for its answer."""
        reader = _http.ResponseReader()
        self._is_kept = False
        request = _http.request(self.server, "POST", "/rpc", self._token, message)
        await within(seconds, method, self._send_and_read(request, reader, lambda: reader.is_complete))
        self._is_kept = reader.keeps_connection
        return _http.decode_response(reader)

    async def begin_events(self, since: int, seconds: float) -> None:
        """Asks for the stream /events; `notifications` reads it."""
        reader = self._stream
        self._is_kept = False
        request = _http.events_request(self.server, self._token, since)
        await within(seconds, "events", self._send_and_read(
            request, reader, lambda: reader.has_head and (reader.status == 200 or reader.is_complete)))
        if reader.status != 200:
            raise _http.status_error(reader.status, reader.take_body())

    async def _send_and_read(
        self, request: bytes, reader: _http.ResponseReader, is_enough: Callable[[], bool]
    ) -> None:
        self._writer.write(request)
        await self._writer.drain()
        while not is_enough():
            reader.feed(await self._reader.read(CHUNK))

    async def notifications(self, idle: Callable[[], Deadline]) -> AsyncIterator[Mapping[str, Any]]:
        """The events of the stream; `idle` says until when the next one has to come."""
        events = _http.EventStreamReader()
        while True:
            for event in events.feed(self._stream.take_body()):
                yield event
            if self._stream.is_complete:
                raise lost("events", "the daemon ended the stream")
            data = await within(idle().remaining, "events", self._reader.read(CHUNK))
            try:
                self._stream.feed(data)
            except ConnectionError as error:
                raise lost("events", error) from None

    def close(self) -> None:
        """Ends the connection."""
        self._writer.close()


AsyncConnection = Union[AsyncLineConnection, AsyncHTTPConnection]


async def connect(servers: Sequence[Server], has_address: bool, options: Options) -> AsyncConnection:
    """A connection to the first server that accepts one."""
    tried: List[str] = []
    deadline = Deadline(options.timeout)
    for server in servers:
        try:
            reader, writer = await bounded(_open(server, options), deadline.remaining, lambda streams: streams[1].close())
        except (OSError, asyncio.TimeoutError) as error:
            reason = getattr(error, "strerror", None) or str(error) or "no connection in time"
            tried.append(f"{server}: {reason}")
            continue
        kind = AsyncHTTPConnection if server.is_http else AsyncLineConnection
        return kind(server, reader, writer, options)
    raise NoDaemonError(advice(tried, has_address))


async def _open(server: Server, options: Options) -> "tuple[asyncio.StreamReader, asyncio.StreamWriter]":
    limit = _http.MOST_MESSAGE_BYTES
    if server.socket is not None:
        return await asyncio.open_unix_connection(server.socket, limit=limit)
    reader, writer = await asyncio.open_connection(
        server.host, server.port, limit=limit, ssl=options.tls if server.is_tls else None)
    # A stream of events may be silent for hours; without this a peer that vanished is never noticed.
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return reader, writer
