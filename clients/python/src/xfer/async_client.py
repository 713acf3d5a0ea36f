"""The client for asyncio."""
from __future__ import annotations

import asyncio
import base64
import itertools
import ssl
import sys
from typing import (
    TYPE_CHECKING, Any, AsyncIterator, Awaitable, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, TypeVar,
    Union,
)

from . import _calls
from ._async_connection import (
    MOST_CALLS, AsyncConnection, AsyncHTTPConnection, AsyncLineConnection, connect,
)
from ._server import servers
from ._values import UNSET, Maybe
from .errors import (
    ConnectionLostError, OperationTimeoutError, StoreChangedError, TaskRemovedError, WaitTimeoutError, XferError,
)
from .async_events import AsyncEvents
from .async_methods import AsyncMethods
from .methods import READERS
from .records import (
    EventName, NewTask, OperationGetResult, OperationRecord, SelectionResult, TaskAddMany, TaskAddOne, TaskColumns,
    TaskFilter, TaskListOrder, TaskOptions, TaskRecord,
)
from .rpc_errors import NotFoundError

if sys.version_info >= (3, 11):
    from typing import Unpack
elif TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")
# Connections for calls. Each stream of events has one of its own.
MOST_CONNECTIONS = 4


class AsyncClient(AsyncMethods):
    """A client of xferd for asyncio. It belongs to one event loop; tasks of that loop may share it.

    Every method of the daemon is here by its namespace: `task.list` is `await client.task.list()`.
    However many calls are under way, at most four connections carry them; further calls wait their turn.

    Args:
        server: The path of a socket, https://host:port, http://host:port, or http+unix:///path.
            Default is the socket that xferctl uses.
        token: What is sent as `Authorization: Bearer` over HTTP.
        token_file: A file with the token, in place of it.
        tls: How TLS connections are checked; default is `ssl.create_default_context()`.
        timeout: Seconds for a connection, and for an answer.
        reconnect_for: Seconds for which adding, waiting and following look for a daemon that went
            away after it was reached; None is without end.
        insecure: Whether the token may be sent in plain text to another machine.
    """

    def __init__(
        self, server: Optional[str] = None, *, token: Optional[str] = None, token_file: Optional[str] = None,
        tls: Optional[ssl.SSLContext] = None, timeout: float = 60.0, reconnect_for: Optional[float] = 60.0,
        insecure: bool = False,
    ) -> None:
        super().__init__(self)
        self._has_address = server is not None
        self._servers = servers(server)
        self._options = _calls.Options.of(
            self._servers, token, token_file, tls, timeout, reconnect_for, insecure)
        # Made with the first call, since before Python 3.10 a lock belongs to the loop it was made in.
        self._lock: Optional[asyncio.Lock] = None
        self._turns: Optional[asyncio.Semaphore] = None
        self._wait_turns: Optional[asyncio.Semaphore] = None
        self._connections: List[AsyncConnection] = []
        self._is_closed = False
        self._identities = itertools.count(1)
        # How many connections were opened, and at how many of them the store id was asked for.
        self._opened = 0
        self._verified = -1
        self._store_id: Optional[str] = None
        # A daemon that goes away after it was reached is looked for by what outlives its restart.
        self._was_reached = False

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the connections. Calls that are under way fail with ConnectionLostError."""
        self._is_closed = True
        connections, self._connections = self._connections, []
        for connection in connections:
            connection.close()

    # Calls.

    async def call(self, method: str, parameters: Optional[Mapping[str, Any]] = None) -> Any:
        """Calls a method by its name and gives its result as JSON has it."""
        parameters = parameters or {}
        if method != "task.wait":
            return await self._call_in_turn(method, parameters)
        # Waits leave room for other calls.
        if self._wait_turns is None:
            self._wait_turns = asyncio.Semaphore(self._most_calls * 3 // 4)
        async with self._wait_turns:
            return await self._call_in_turn(method, parameters)

    @property
    def _most_calls(self) -> int:
        """Calls under way: as many as four connections carry. Over HTTP each carries one."""
        is_http = any(server.is_http for server in self._servers)
        return MOST_CONNECTIONS if is_http else MOST_CONNECTIONS * MOST_CALLS

    async def _call_in_turn(self, method: str, parameters: Mapping[str, Any]) -> Any:
        if self._turns is None:
            self._turns = asyncio.Semaphore(self._most_calls)
        async with self._turns:
            return await self._call(method, parameters)

    async def _call(self, method: str, parameters: Mapping[str, Any]) -> Any:
        seconds = _calls.time_for_answer(method, parameters, self._options.timeout)
        for attempt in itertools.count(1):
            identity = next(self._identities)
            message = _calls.encode_call(method, parameters, identity)
            connection = await self._take()
            try:
                answer = await connection.exchange(method, identity, message, seconds)
            except ConnectionLostError:
                self._give_back(connection)
                if attempt < _calls.ATTEMPTS and method in READERS:
                    continue
                raise
            except BaseException:
                self._give_back(connection)
                raise
            self._give_back(connection)
            return _calls.decode_answer(method, answer)

    async def ask(self, method: str, parameters: Mapping[str, Any], decode: Callable[[Any], T]) -> T:
        """Calls a method and decodes its result."""
        parameters = {name: value for name, value in parameters.items() if value is not UNSET}
        return _calls.decode_result(method, await self.call(method, parameters), decode)

    @property
    def _opening(self) -> asyncio.Lock:
        if self._lock is None:
            self._lock = asyncio.Lock()
        return self._lock

    async def _connect(self) -> AsyncConnection:
        """A connection of its own, for a stream of events."""
        if self._is_closed:
            raise XferError("the client is closed")
        self._opened += 1
        connection = await connect(self._servers, self._has_address, self._options)
        self._was_reached = True
        return connection

    async def _take(self) -> AsyncConnection:
        """A connection for one call. One of lines stays in the list, since it carries many."""
        async with self._opening:
            for connection in list(self._connections):
                if connection.is_usable:
                    if isinstance(connection, AsyncHTTPConnection):
                        self._connections.remove(connection)
                    return connection
                if connection.is_ended:
                    self._connections.remove(connection)
                    connection.close()
            connection = await self._connect()
            if isinstance(connection, AsyncLineConnection):
                self._connections.append(connection)
            return connection

    def _give_back(self, connection: AsyncConnection) -> None:
        if isinstance(connection, AsyncLineConnection):
            return
        if connection.is_usable and not self._is_closed:
            self._connections.append(connection)
        else:
            connection.close()

    async def current_store_id(self) -> Optional[str]:
        """Which database the daemon has; None if it does not say. Asked for after a connection was opened."""
        opened = self._opened
        if self._verified != opened:
            try:
                self._store_id = (await self.daemon.status()).store_id
            except XferError as error:
                if not _calls.is_refusal(error):
                    raise
                self._store_id = None
            # A connection that was opened meanwhile may lead to another daemon.
            self._verified = opened
        return self._store_id

    def _forget_store_id(self) -> None:
        """Has `current_store_id` ask anew."""
        self._verified = -1

    async def _over_restarts(self, action: Callable[[], Awaitable[T]], deadline: Optional[_calls.Deadline] = None) -> T:
        """Calls, and repeats that while a daemon that was reached before is away."""
        deadline = deadline or _calls.Deadline(None)
        patience = _calls.Patience(self._options.reconnect_for)
        while True:
            try:
                return await action()
            except _calls.PASSING as error:
                self._forget_store_id()
                if not self._was_reached or deadline.remaining == 0:
                    raise
                await asyncio.sleep(deadline.bounded(patience.delay(error)))

    # Tasks.

    async def add(self, url: str, **options: Unpack[TaskOptions]) -> AsyncTask:
        """Adds a task. When this returns, the task survives a crash of the daemon and of the machine.

        Without a client_key of yours the task gets a random one, so that the add can be repeated
        when its answer is lost.

        Args:
            url: What to ask for.
            **options: The fields of `TaskOptions`, for example dir, output and checksum.
        """
        options.setdefault("client_key", _calls.new_key())

        async def add() -> AsyncTask:
            result = await self.ask("task.add", {"url": url, **options}, TaskAddOne.from_wire)
            return AsyncTask(self, result.task.id, await self.current_store_id(), result.task)

        return await self._over_restarts(add)

    async def add_all(
        self, tasks: Iterable[Union[str, NewTask]], **options: Unpack[TaskOptions],
    ) -> List[AsyncTask]:
        """Adds any number of tasks with few calls. When this returns, all survive a crash.

        Up to 10,000 tasks go in one call, which adds all of them or none. A task without a
        client_key of yours gets a random one, so that a call can be repeated when its answer is
        lost. A negative number in `after` counts within one call.

        Args:
            tasks: URLs, or tasks with fields of their own.
            **options: Fields for the tasks that do not set them, for example dir and group.

        Returns:
            The tasks, in the same order.

        Raises:
            RPCError: A task is refused. Tasks of earlier calls stay added.
        """
        if "client_key" in options:
            raise ValueError("client_key: expected one for each task, in tasks")
        added: List[AsyncTask] = []

        async def add(part: Sequence[Mapping[str, Any]]) -> List[AsyncTask]:
            result = await self.ask("task.add", {"tasks": part}, TaskAddMany.from_wire)
            store_id = await self.current_store_id()
            return [AsyncTask(self, task_id, store_id, None) for task_id in result.ids]

        for part in _calls.add_parts(tasks, options):
            added += await self._over_restarts(lambda: add(part))
        return added

    async def wait_all(self, tasks: Sequence[AsyncTask], timeout: Optional[float] = None) -> List[TaskRecord]:
        """Waits until all of these tasks have ended or are staged, over restarts of the daemon.

        One call waits for 10,000 tasks. A task that has failed or was cancelled raises nothing: its
        record's `state` says it.

        Returns:
            The records, in the order of `tasks`.

        Raises:
            TaskRemovedError: One of them was removed.
            WaitTimeoutError: One has not ended within `timeout` seconds.
            StoreChangedError: The daemon has come back with another database.
        """
        deadline = _calls.Deadline(timeout)
        patience = _calls.Patience(self._options.reconnect_for)
        records: Dict[int, TaskRecord] = {}

        async def read(part: Sequence[int]) -> None:
            await tasks[0]._check_store()
            async for record in self.tasks(filter={"ids": list(part)}):
                records[record.id] = record

        unended = list(dict.fromkeys(task.id for task in tasks))
        while unended:
            try:
                await tasks[0]._check_store()
                left: List[int] = []
                for part in _calls.parts(unended):
                    seconds = deadline.bounded(_calls.LONGEST_WAIT)
                    parameters = {"ids": part, "timeout": seconds, "fields": []}
                    left += _calls.unended(await self.call("task.wait", parameters))
            except _calls.PASSING as error:
                self._forget_store_id()
                if deadline.remaining == 0:
                    raise WaitTimeoutError(unended[0]) from error
                await asyncio.sleep(deadline.bounded(patience.delay(error)))
                continue
            patience.reset()
            # At once: the daemon may remove ended tasks from its history before the last one ends.
            open_ids = set(left)
            for part in _calls.parts([task_id for task_id in unended if task_id not in open_ids]):
                await self._over_restarts(lambda: read(part), deadline)
            unended = left
            if unended and deadline.remaining == 0:
                raise WaitTimeoutError(unended[0])
        for task in tasks:
            if task.id not in records:
                raise TaskRemovedError(task.id)
        return [records[task.id] for task in tasks]

    async def wait_operation(self, operation_id: int, timeout: Optional[float] = None) -> OperationRecord:
        """Waits until a background operation has ended, over restarts of the daemon.

        A verb with `background=True` answers with the operation's id. Its record's `state` says
        whether it has completed, has failed or was cancelled.

        Raises:
            OperationTimeoutError: It has not ended within `timeout` seconds.
            NotFoundError: There is no such operation; an ended one is kept for seven days.
        """
        deadline = _calls.Deadline(timeout)
        delay = 0.02

        async def get() -> OperationGetResult:
            return await self.operation.get(operation_id)

        while True:
            operation = (await self._over_restarts(get, deadline)).operation
            if operation.ended_at is not None:
                return operation
            if deadline.remaining == 0:
                raise OperationTimeoutError(operation_id)
            delay = min(1.0, delay * 2)
            await asyncio.sleep(deadline.bounded(delay))

    async def attach(self, task_id: int) -> AsyncTask:
        """A task that exists, by its id."""
        return AsyncTask(self, task_id, await self.current_store_id(), None)

    async def tasks(
        self, *, filter: Maybe[TaskFilter] = UNSET, fields: Maybe[TaskColumns] = UNSET,
        order: Maybe[TaskListOrder] = UNSET, page: int = 1000,
    ) -> AsyncIterator[TaskRecord]:
        """All tasks of `task.list`, page by page."""
        cursor: Maybe[str] = UNSET
        while True:
            result = await self.task.list(filter=filter, fields=fields, order=order, limit=page, cursor=cursor)
            for task in result.tasks:
                yield task
            if result.next_cursor is None:
                return
            cursor = result.next_cursor

    def follow(
        self, *, since: Optional[int] = None, types: Union[EventName, Sequence[EventName], None] = None,
        task_ids: Union[int, Sequence[int], None] = None, idle_timeout: Optional[float] = None,
    ) -> AsyncEvents:
        """Iterates over events as they happen, on a connection of its own.

        If the connection is lost, it is made again, and no durable event is missed or comes twice.

        Args:
            since: First come the events after this sequence number; 0 is all stored ones. Default
                is only what happens from now on.
            types: Types of events; default all.
            task_ids: Only events about these tasks.
            idle_timeout: Seconds without an event that end the iteration with CallTimeoutError.

        Raises:
            EventsLostError: Events after `since` are no longer kept; iterating further is fine.
            StoreChangedError: The daemon has come back with another database.
        """
        return AsyncEvents(self, _calls.Position(since, types, task_ids), idle_timeout)


class AsyncTask:
    """A task of the daemon."""

    def __init__(
        self, client: AsyncClient, task_id: int, store_id: Optional[str], record: Optional[TaskRecord],
    ) -> None:
        self._client = client
        self.id = task_id
        self.store_id = store_id
        """Which database the id is of."""
        self.record = record
        """What the last call of `wait` or `get` has given, or adding it."""

    def __repr__(self) -> str:
        return f"<xfer.AsyncTask {self.id}>"

    async def wait(self, timeout: Optional[float] = None) -> TaskRecord:
        """Waits until the task is completed or staged, over restarts of the daemon.

        Raises:
            TaskFailedError: It has failed; `reason` says why.
            TaskCancelledError: It was cancelled, or superseded in its slot.
            TaskRemovedError: It was removed.
            WaitTimeoutError: It has not ended within `timeout` seconds; it continues in the daemon.
            StoreChangedError: The daemon has come back with another database.
        """
        deadline = _calls.Deadline(timeout)
        patience = _calls.Patience(self._client._options.reconnect_for)
        is_store_known = False
        while True:
            try:
                if not is_store_known:
                    # In another database the id may be a task that does not end for long.
                    self._client._forget_store_id()
                    await self._check_store()
                    is_store_known = True
                result = await self._client.task.wait(ids=[self.id], timeout=deadline.bounded(_calls.LONGEST_WAIT))
                await self._check_store()
            except _calls.PASSING as error:
                is_store_known = False
                if deadline.remaining == 0:
                    raise WaitTimeoutError(self.id) from error
                await asyncio.sleep(deadline.bounded(patience.delay(error)))
                continue
            except NotFoundError:
                await self._check_store()
                raise
            patience.reset()
            record = _calls.ended(self.id, result)
            if record is not None:
                self.record = record
                return record
            if deadline.remaining == 0:
                raise WaitTimeoutError(self.id)

    async def get(self) -> TaskRecord:
        """The task as it is now."""
        try:
            record = (await self._client.task.get(self.id)).task
        except NotFoundError:
            await self._check_store()
            raise
        await self._check_store()
        self.record = record
        return record

    async def pause(self) -> bool:
        """Pauses the task; what has come is kept. False: its state left nothing to do, or forbids it."""
        return await self._change(self._client.task.pause)

    async def resume(self) -> bool:
        """Queues the paused task again. False: its state left nothing to do, or forbids it."""
        return await self._change(self._client.task.resume)

    async def cancel(self) -> bool:
        """Cancels the task and deletes its partial bytes. False: it has ended already."""
        return await self._change(self._client.task.cancel)

    async def retry(self) -> bool:
        """Tries a failed or cancelled task again. False: its state forbids it."""
        return await self._change(self._client.task.retry)

    async def commit(self) -> bool:
        """Publishes a staged download. False: it is not staged."""
        return await self._change(self._client.task.commit)

    async def remove(self, *, files: bool = False) -> bool:
        """Removes a task that has ended, and with `files` the published file. False: it has not ended."""
        await self._check_store()
        return _calls.has_changed(self.id, await self._client.task.remove(ids=[self.id], files=files))

    async def content(self) -> bytes:
        """The whole response of a data task or an upload."""
        await self._check_store()
        content = bytearray()
        while True:
            part = await self._client.task.result(self.id, offset=len(content))
            content += base64.b64decode(part.data) if part.encoding == "base64" else part.data.encode()
            if part.eof:
                return bytes(content)

    async def _change(self, method: Callable[..., Awaitable[SelectionResult]]) -> bool:
        await self._check_store()
        return _calls.has_changed(self.id, await method(ids=[self.id]))

    async def _check_store(self) -> None:
        found = await self._client.current_store_id()
        if found is not None and self.store_id is not None and found != self.store_id:
            raise StoreChangedError(self.store_id, found)
