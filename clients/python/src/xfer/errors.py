"""What can go wrong. Every error of this package is an XferError."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional

if TYPE_CHECKING:
    from .records import TaskRecord


class XferError(Exception):
    """The base of all errors of this package."""


class NoDaemonError(XferError, ConnectionError):
    """No connection to a daemon could be made."""


class ConnectionLostError(XferError, ConnectionError):
    """The connection ended before the answer came: the call may have been carried out."""


class CallTimeoutError(XferError, TimeoutError):
    """No answer within the client's timeout: the call may have been carried out."""


class ProtocolError(XferError):
    """What was received is not what xferd sends."""


class HTTPStatusError(XferError):
    """An HTTP answer that is not one of JSON-RPC."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"HTTP status {status}: {text.strip() or 'no text'}")
        self.status = status
        self.text = text


class UnauthorizedError(HTTPStatusError):
    """The server rejects the token, or there is none (401, 403)."""


class UnavailableError(HTTPStatusError):
    """The daemon, or a proxy before it, cannot answer at present (502, 503, 504)."""


class RPCError(XferError):
    """An error that the daemon answered. Each code has a subclass in `xfer.rpc_errors`."""

    def __init__(self, method: str, wire: Mapping[str, Any]) -> None:
        data = wire.get("data")
        self.data: Mapping[str, Any] = data if isinstance(data, dict) else {}
        self.method = method
        self.code = int(wire["code"])
        self.message = str(wire["message"])
        self.reason: Optional[str] = self.data.get("reason")
        """A lower-case word that programs can tell apart."""
        self.path: Optional[str] = self.data.get("path")
        """The parameter at fault, from the root of the call's parameters."""
        self.expected: Optional[str] = self.data.get("expected")
        self.limit: Optional[int] = self.data.get("limit")
        self.task_id: Optional[int] = self.data.get("task_id")
        self.state: Optional[str] = self.data.get("state")
        """The state of that task."""
        super().__init__(f"{method}: {self.message} ({self.reason or self.code})")


class TaskError(XferError):
    """A task did not complete."""

    def __init__(self, message: str, task: TaskRecord) -> None:
        super().__init__(message)
        self.task = task


class TaskFailedError(TaskError):
    """A task has failed."""

    def __init__(self, task: TaskRecord) -> None:
        self.reason: Optional[str] = task.error.reason if task.error else None
        """Why, as a word; docs/reference/errors.md lists them."""
        message = task.error.message if task.error else "no reason is known"
        super().__init__(f"task {task.id} failed: {message} ({self.reason})", task)


class TaskCancelledError(TaskError):
    """A task was cancelled, or another one took its slot."""

    def __init__(self, task: TaskRecord) -> None:
        super().__init__(f"task {task.id} was cancelled", task)


class TaskRemovedError(XferError):
    """A task was removed while something waited for it."""

    def __init__(self, task_id: int) -> None:
        super().__init__(f"task {task_id} was removed")
        self.task_id = task_id


class OperationTimeoutError(XferError, TimeoutError):
    """A background operation has not ended in time. It continues in the daemon."""

    def __init__(self, operation_id: int) -> None:
        super().__init__(f"operation {operation_id} has not ended in time; it continues in the daemon")
        self.operation_id = operation_id


class WaitTimeoutError(XferError, TimeoutError):
    """A task has not ended in time. It continues in the daemon."""

    def __init__(self, task_id: int) -> None:
        super().__init__(f"task {task_id} has not ended in time; it continues in the daemon")
        self.task_id = task_id


class StoreChangedError(XferError):
    """The daemon has another database: ids and sequence numbers start from the beginning."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(
            f"the daemon has another database ({found} instead of {expected}):"
            " ids and sequence numbers of the old one mean nothing there")
        self.expected = expected
        self.found = found


class EventsLostError(XferError):
    """Events after `since` are no longer kept. The next event is the oldest that is."""

    def __init__(self, since: int, first_seq: int) -> None:
        super().__init__(
            f"events after {since} are no longer kept; the oldest that is kept is {first_seq}")
        self.since = since
        self.first_seq = first_seq
