"""The blocking client."""
from __future__ import annotations

import base64
import itertools
import ssl
import sys
import threading
import time
from typing import (
    TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, TypeVar, Union,
)

from . import _calls
from ._connection import Connection, connect
from ._server import servers
from ._values import UNSET, Maybe
from .errors import (
    ConnectionLostError, OperationTimeoutError, StoreChangedError, TaskRemovedError, WaitTimeoutError, XferError,
)
from .events import Events
from .methods import READERS, Methods
from .records import (
    EventName, NewTask, OperationRecord, SelectionResult, TaskAddMany, TaskAddOne, TaskColumns, TaskFilter,
    TaskListOrder, TaskOptions, TaskRecord,
)
from .rpc_errors import NotFoundError

if sys.version_info >= (3, 11):
    from typing import Unpack
elif TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")


class Client(Methods):
    """A client of xferd. Threads may share it: each call has a connection to itself while it lasts.

    Every method of the daemon is here by its namespace: `task.list` is `client.task.list()`.

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
        self._lock = threading.Lock()
        self._idle: List[Connection] = []
        self._is_closed = False
        self._identities = itertools.count(1)
        # How many connections were opened, and at how many of them the store id was asked for.
        self._opened = 0
        self._verified = -1
        self._store_id: Optional[str] = None
        # A daemon that goes away after it was reached is looked for by what outlives its restart.
        self._was_reached = False

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the idle connections. Calls of other threads go on to their answers."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    # Calls.

    def call(self, method: str, parameters: Optional[Mapping[str, Any]] = None) -> Any:
        """Calls a method by its name and gives its result as JSON has it."""
        parameters = parameters or {}
        seconds = _calls.time_for_answer(method, parameters, self._options.timeout)
        for attempt in itertools.count(1):
            identity = next(self._identities)
            message = _calls.encode_call(method, parameters, identity)
            connection = self._take()
            try:
                answer = connection.exchange(method, message, seconds)
            except ConnectionLostError:
                connection.close()
                if attempt < _calls.ATTEMPTS and method in READERS:
                    continue
                raise
            except BaseException:
                connection.close()
                raise
            self._give_back(connection)
            return _calls.decode_answer(method, answer)

    def ask(self, method: str, parameters: Mapping[str, Any], decode: Callable[[Any], T]) -> T:
        """Calls a method and decodes its result."""
        parameters = {name: value for name, value in parameters.items() if value is not UNSET}
        return _calls.decode_result(method, self.call(method, parameters), decode)

    def _connect(self) -> Connection:
        """A connection of its own, for a stream of events."""
        with self._lock:
            if self._is_closed:
                raise XferError("the client is closed")
            self._opened += 1
        connection = connect(self._servers, self._has_address, self._options)
        self._was_reached = True
        return connection

    def _take(self) -> Connection:
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return self._connect()
            if connection.is_usable:
                return connection
            connection.close()

    def _give_back(self, connection: Connection) -> None:
        with self._lock:
            if not self._is_closed:
                self._idle.append(connection)
                return
        connection.close()

    def current_store_id(self) -> Optional[str]:
        """Which database the daemon has; None if it does not say. Asked for after a connection was opened."""
        opened = self._opened
        if self._verified != opened:
            try:
                self._store_id = self.daemon.status().store_id
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

    def _over_restarts(self, action: Callable[[], T], deadline: Optional[_calls.Deadline] = None) -> T:
        """Calls, and repeats that while a daemon that was reached before is away."""
        deadline = deadline or _calls.Deadline(None)
        patience = _calls.Patience(self._options.reconnect_for)
        while True:
            try:
                return action()
            except _calls.PASSING as error:
                self._forget_store_id()
                if not self._was_reached or deadline.remaining == 0:
                    raise
                time.sleep(deadline.bounded(patience.delay(error)))

    # Tasks.

    def add(self, url: str, **options: Unpack[TaskOptions]) -> Task:
        """Adds a task. When this returns, the task survives a crash of the daemon and of the machine.

        Without a client_key of yours the task gets a random one, so that the add can be repeated
        when its answer is lost.

        Args:
            url: What to ask for.
            **options: The fields of `TaskOptions`, for example dir, output and checksum.
        """
        options.setdefault("client_key", _calls.new_key())

        def add() -> Task:
            result = self.ask("task.add", {"url": url, **options}, TaskAddOne.from_wire)
            return Task(self, result.task.id, self.current_store_id(), result.task)

        return self._over_restarts(add)

    def add_all(
        self, tasks: Iterable[Union[str, NewTask]], **options: Unpack[TaskOptions],
    ) -> List[Task]:
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
        added: List[Task] = []

        def add(part: Sequence[Mapping[str, Any]]) -> List[Task]:
            result = self.ask("task.add", {"tasks": part}, TaskAddMany.from_wire)
            store_id = self.current_store_id()
            return [Task(self, task_id, store_id, None) for task_id in result.ids]

        for part in _calls.add_parts(tasks, options):
            added += self._over_restarts(lambda: add(part))
        return added

    def wait_all(self, tasks: Sequence[Task], timeout: Optional[float] = None) -> List[TaskRecord]:
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

        def read(part: Sequence[int]) -> None:
            tasks[0]._check_store()
            for record in self.tasks(filter={"ids": list(part)}):
                records[record.id] = record

        unended = list(dict.fromkeys(task.id for task in tasks))
        while unended:
            try:
                tasks[0]._check_store()
                left: List[int] = []
                for part in _calls.parts(unended):
                    seconds = deadline.bounded(_calls.LONGEST_WAIT)
                    parameters = {"ids": part, "timeout": seconds, "fields": []}
                    left += _calls.unended(self.call("task.wait", parameters))
            except _calls.PASSING as error:
                self._forget_store_id()
                if deadline.remaining == 0:
                    raise WaitTimeoutError(unended[0]) from error
                time.sleep(deadline.bounded(patience.delay(error)))
                continue
            patience.reset()
            # At once: the daemon may remove ended tasks from its history before the last one ends.
            open_ids = set(left)
            for part in _calls.parts([task_id for task_id in unended if task_id not in open_ids]):
                self._over_restarts(lambda: read(part), deadline)
            unended = left
            if unended and deadline.remaining == 0:
                raise WaitTimeoutError(unended[0])
        for task in tasks:
            if task.id not in records:
                raise TaskRemovedError(task.id)
        return [records[task.id] for task in tasks]

    def wait_operation(self, operation_id: int, timeout: Optional[float] = None) -> OperationRecord:
        """Waits until a background operation has ended, over restarts of the daemon.

        A verb with `background=True` answers with the operation's id. Its record's `state` says
        whether it has completed, has failed or was cancelled.

        Raises:
            OperationTimeoutError: It has not ended within `timeout` seconds.
            NotFoundError: There is no such operation; an ended one is kept for seven days.
        """
        deadline = _calls.Deadline(timeout)
        delay = 0.02
        while True:
            operation = self._over_restarts(lambda: self.operation.get(operation_id), deadline).operation
            if operation.ended_at is not None:
                return operation
            if deadline.remaining == 0:
                raise OperationTimeoutError(operation_id)
            delay = min(1.0, delay * 2)
            time.sleep(deadline.bounded(delay))

    def attach(self, task_id: int) -> Task:
        """A task that exists, by its id."""
        return Task(self, task_id, self.current_store_id(), None)

    def tasks(
        self, *, filter: Maybe[TaskFilter] = UNSET, fields: Maybe[TaskColumns] = UNSET,
        order: Maybe[TaskListOrder] = UNSET, page: int = 1000,
    ) -> Iterator[TaskRecord]:
        """All tasks of `task.list`, page by page."""
        cursor: Maybe[str] = UNSET
        while True:
            result = self.task.list(filter=filter, fields=fields, order=order, limit=page, cursor=cursor)
            yield from result.tasks
            if result.next_cursor is None:
                return
            cursor = result.next_cursor

    def follow(
        self, *, since: Optional[int] = None, types: Union[EventName, Sequence[EventName], None] = None,
        task_ids: Union[int, Sequence[int], None] = None, idle_timeout: Optional[float] = None,
    ) -> Events:
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
        return Events(self, _calls.Position(since, types, task_ids), idle_timeout)


class Task:
    """A task of the daemon."""

    def __init__(
        self, client: Client, task_id: int, store_id: Optional[str], record: Optional[TaskRecord],
    ) -> None:
        self._client = client
        self.id = task_id
        self.store_id = store_id
        """Which database the id is of."""
        self.record = record
        """What the last call of `wait` or `get` has given, or adding it."""

    def __repr__(self) -> str:
        return f"<xfer.Task {self.id}>"

    def wait(self, timeout: Optional[float] = None) -> TaskRecord:
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
                    self._check_store()
                    is_store_known = True
                result = self._client.task.wait(ids=[self.id], timeout=deadline.bounded(_calls.LONGEST_WAIT))
                self._check_store()
            except _calls.PASSING as error:
                is_store_known = False
                if deadline.remaining == 0:
                    raise WaitTimeoutError(self.id) from error
                time.sleep(deadline.bounded(patience.delay(error)))
                continue
            except NotFoundError:
                self._check_store()
                raise
            patience.reset()
            record = _calls.ended(self.id, result)
            if record is not None:
                self.record = record
                return record
            if deadline.remaining == 0:
                raise WaitTimeoutError(self.id)

    def get(self) -> TaskRecord:
        """The task as it is now."""
        try:
            record = self._client.task.get(self.id).task
        except NotFoundError:
            self._check_store()
            raise
        self._check_store()
        self.record = record
        return record

    def pause(self) -> bool:
        """Pauses the task; what has come is kept. False: its state left nothing to do, or forbids it."""
        return self._change(self._client.task.pause)

    def resume(self) -> bool:
        """Queues the paused task again. False: its state left nothing to do, or forbids it."""
        return self._change(self._client.task.resume)

    def cancel(self) -> bool:
        """Cancels the task and deletes its partial bytes. False: it has ended already."""
        return self._change(self._client.task.cancel)

    def retry(self) -> bool:
        """Tries a failed or cancelled task again. False: its state forbids it."""
        return self._change(self._client.task.retry)

    def commit(self) -> bool:
        """Publishes a staged download. False: it is not staged."""
        return self._change(self._client.task.commit)

    def remove(self, *, files: bool = False) -> bool:
        """Removes a task that has ended, and with `files` the published file. False: it has not ended."""
        self._check_store()
        return _calls.has_changed(self.id, self._client.task.remove(ids=[self.id], files=files))

    def content(self) -> bytes:
        """The whole response of a data task or an upload."""
        self._check_store()
        content = bytearray()
        while True:
            part = self._client.task.result(self.id, offset=len(content))
            content += base64.b64decode(part.data) if part.encoding == "base64" else part.data.encode()
            if part.eof:
                return bytes(content)

    def _change(self, method: Callable[..., SelectionResult]) -> bool:
        self._check_store()
        return _calls.has_changed(self.id, method(ids=[self.id]))

    def _check_store(self) -> None:
        found = self._client.current_store_id()
        if found is not None and self.store_id is not None and found != self.store_id:
            raise StoreChangedError(self.store_id, found)
