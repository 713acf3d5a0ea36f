"""Events as they happen, for asyncio."""
from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, AsyncIterator, Mapping, Optional

from . import _calls
from ._async_connection import AsyncConnection, AsyncHTTPConnection, AsyncLineConnection
from .errors import EventsLostError
from .records import DaemonStatusResult, Event, EventsOverflowEvent, EventsSinceGap, EventsSubscribeResult

if TYPE_CHECKING:
    from .async_client import AsyncClient


class AsyncEvents:
    """An asynchronous iterator over events. As a context manager it begins at once, and leaving it
    ends the connection."""

    def __init__(self, client: AsyncClient, position: _calls.Position, idle_timeout: Optional[float]) -> None:
        self._client = client
        self._position = position
        self._idle_timeout = idle_timeout
        self._patience = _calls.Patience(client._options.reconnect_for)
        self._connection: Optional[AsyncConnection] = None
        self._idle = _calls.Deadline(None)
        self._messages: AsyncIterator[Mapping[str, Any]]
        self._is_closed = False
        self._lost: Optional[EventsLostError] = None

    @property
    def last_seq(self) -> Optional[int]:
        """The sequence number to pass as `since` to go on after the last event."""
        return self._position.last_seq

    @property
    def store_id(self) -> Optional[str]:
        """Which database the sequence numbers are of."""
        return self._position.store_id

    async def __aenter__(self) -> AsyncEvents:
        if self._connection is None:
            await self._client._over_restarts(self._open)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __aiter__(self) -> AsyncEvents:
        return self

    async def __anext__(self) -> Event:
        self._idle = _calls.Deadline(self._idle_timeout)
        while not self._is_closed:
            try:
                if self._lost is not None:
                    gap, self._lost = self._lost, None
                    raise gap
                if self._connection is None:
                    await self._open()
                    continue
                event = self._position.accept(await self._messages.__anext__())
            except _calls.PASSING as error:
                self._drop()
                if self._is_closed:
                    break
                if not self._client._was_reached:
                    raise
                await asyncio.sleep(self._idle.bounded(self._patience.delay(error)))
                if self._idle.remaining == 0:
                    raise _calls.late("events", self._idle_timeout) from error
                continue
            except EventsLostError:
                raise
            except BaseException:
                self._drop()
                raise
            self._patience.reset()
            if isinstance(event, EventsOverflowEvent):
                # This client did not read for long. The daemon still has the durable events.
                self._drop()
            elif event is not None:
                return event
        raise StopAsyncIteration

    def close(self) -> None:
        """Ends the connection. A task that waits for the next event stops iterating."""
        self._is_closed = True
        self._drop()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    async def _open(self) -> None:
        connection = await self._client._connect()
        try:
            if isinstance(connection, AsyncLineConnection):
                await self._subscribe(connection)
            else:
                await self._stream(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    async def _subscribe(self, connection: AsyncLineConnection) -> None:
        seconds = self._client._options.timeout

        async def ask(method: str, identity: int, parameters: Mapping[str, Any]) -> Any:
            message = _calls.encode_call(method, parameters, identity)
            return _calls.decode_answer(method, await connection.exchange(method, identity, message, seconds))

        status = await ask("daemon.status", 1, {})
        self._position.check(_calls.decode_result("daemon.status", status, DaemonStatusResult.from_wire).store_id)
        result = await ask("events.subscribe", 2, self._position.parameters)
        self._lost = self._position.begin(
            _calls.decode_result("events.subscribe", result, EventsSubscribeResult.from_wire))
        self._messages = connection.notifications(self._idle_deadline)

    async def _stream(self, connection: AsyncHTTPConnection) -> None:
        self._position.check(await self._client.current_store_id())
        since = self._position.last_seq
        # A number after the last one gives no event, and says which the last one is.
        page = await self._client.events.since(_calls.LARGEST_SEQ if since is None else since, limit=1)
        if isinstance(page, EventsSinceGap):
            self._lost = self._position.skip(page.first_seq)
        elif since is None:
            self._position.last_seq = page.last_seq
        await connection.begin_events(self._position.last_seq or 0, self._client._options.timeout)
        self._messages = connection.notifications(self._idle_deadline)

    def _idle_deadline(self) -> _calls.Deadline:
        return self._idle
