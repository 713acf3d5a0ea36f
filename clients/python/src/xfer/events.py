"""Events as they happen."""
from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional

from . import _calls
from ._connection import Connection, HTTPConnection, LineConnection
from .errors import EventsLostError, XferError
from .records import DaemonStatusResult, Event, EventsOverflowEvent, EventsSinceGap, EventsSubscribeResult

if TYPE_CHECKING:
    from .client import Client


class Events:
    """An iterator over events. It is a context manager: leaving it ends the connection."""

    def __init__(self, client: Client, position: _calls.Position, idle_timeout: Optional[float]) -> None:
        self._client = client
        self._position = position
        self._idle_timeout = idle_timeout
        self._patience = _calls.Patience(client._options.reconnect_for)
        self._connection: Optional[Connection] = None
        self._messages: Iterator[Mapping[str, Any]] = iter(())
        self._idle = _calls.Deadline(None)
        self._is_closed = False
        # Held by the thread that waits for an event.
        self._reading = threading.Lock()
        self._lost: Optional[EventsLostError] = None
        client._over_restarts(self._open)

    @property
    def last_seq(self) -> Optional[int]:
        """The sequence number to pass as `since` to go on after the last event."""
        return self._position.last_seq

    @property
    def store_id(self) -> Optional[str]:
        """Which database the sequence numbers are of."""
        return self._position.store_id

    def __enter__(self) -> Events:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Events:
        return self

    def __next__(self) -> Event:
        with self._reading:
            try:
                return self._next()
            finally:
                if self._is_closed:
                    self._drop()

    def _next(self) -> Event:
        self._idle = _calls.Deadline(self._idle_timeout)
        while not self._is_closed:
            try:
                if self._lost is not None:
                    gap, self._lost = self._lost, None
                    raise gap
                if self._connection is None:
                    self._open()
                    continue
                event = self._position.accept(next(self._messages))
            except _calls.PASSING as error:
                self._drop()
                if self._is_closed:
                    break
                time.sleep(self._idle.bounded(self._patience.delay(error)))
                if self._idle.remaining == 0:
                    raise _calls.late("events", self._idle_timeout) from error
                continue
            except EventsLostError:
                raise
            except XferError:
                self._drop()
                raise
            self._patience.reset()
            if isinstance(event, EventsOverflowEvent):
                # This client did not read for long. The daemon still has the durable events.
                self._drop()
            elif event is not None:
                return event
        raise StopIteration

    def close(self) -> None:
        """Ends the connection. A thread that waits for the next event stops iterating."""
        self._is_closed = True
        connection = self._connection
        if connection is not None:
            connection.interrupt()
        if self._reading.acquire(blocking=False):
            self._drop()
            self._reading.release()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _open(self) -> None:
        connection = self._client._connect()
        try:
            if isinstance(connection, LineConnection):
                self._subscribe(connection)
            else:
                self._stream(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _subscribe(self, connection: LineConnection) -> None:
        seconds = self._client._options.timeout

        def ask(method: str, identity: int, parameters: Mapping[str, Any]) -> Any:
            message = _calls.encode_call(method, parameters, identity)
            return _calls.decode_answer(method, connection.exchange(method, message, seconds))

        status = _calls.decode_result("daemon.status", ask("daemon.status", 1, {}), DaemonStatusResult.from_wire)
        self._position.check(status.store_id)
        result = ask("events.subscribe", 2, self._position.parameters)
        self._lost = self._position.begin(
            _calls.decode_result("events.subscribe", result, EventsSubscribeResult.from_wire))
        self._messages = connection.notifications(self._idle_deadline)

    def _stream(self, connection: HTTPConnection) -> None:
        self._position.check(self._client.current_store_id())
        since = self._position.last_seq
        # A number after the last one gives no event, and says which the last one is.
        page = self._client.events.since(_calls.LARGEST_SEQ if since is None else since, limit=1)
        if isinstance(page, EventsSinceGap):
            self._lost = self._position.skip(page.first_seq)
        elif since is None:
            self._position.last_seq = page.last_seq
        connection.begin_events(self._position.last_seq or 0, self._client._options.timeout)
        self._messages = connection.notifications(self._idle_deadline)

    def _idle_deadline(self) -> _calls.Deadline:
        return self._idle
