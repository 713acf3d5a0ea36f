"""What both clients share: messages, deadlines, patience, the position in the stream of events."""
from __future__ import annotations

import json
import ssl
import time
import uuid
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, TypeVar, Union

from ._server import Server
from ._values import encode
from .errors import (
    CallTimeoutError, ConnectionLostError, EventsLostError, NoDaemonError, ProtocolError, RPCError,
    StoreChangedError, TaskCancelledError, TaskFailedError, TaskRemovedError, UnauthorizedError,
    UnavailableError,
)
from .records import (
    Event, EventName, EventsOverflowEvent, EventsSubscribeResult, NewTask, SelectionResult, SelectionResultCounted,
    SelectionResultListed,
    TaskOptions, TaskRecord, TaskWaitResult, decode_event,
)
from .rpc_errors import BY_CODE, ShuttingDownError

T = TypeVar("T")

# What passes when a daemon is restarted.
PASSING = (NoDaemonError, ConnectionLostError, ShuttingDownError, UnavailableError)
# One task.wait takes so long at most: proxies end requests that are silent for long.
LONGEST_WAIT = 45.0
# A call whose connection was lost is repeated once, if that does no harm.
ATTEMPTS = 2
# One call takes so many ids.
MOST_IDS = 10_000
# One task.add takes so many bytes of tasks; a message may have 4 MiB.
MOST_BYTES = 3 << 20
# The largest sequence number that the daemon takes.
LARGEST_SEQ = 1 << 53


@dataclass(frozen=True)
class Options:
    """How a client connects."""

    token: Optional[str]
    tls: Optional[ssl.SSLContext]
    timeout: float
    reconnect_for: Optional[float]

    @classmethod
    def of(
        cls, servers: Sequence[Server], token: Optional[str], token_file: Optional[str],
        tls: Optional[ssl.SSLContext], timeout: float, reconnect_for: Optional[float], insecure: bool,
    ) -> Options:
        """Checks what the caller passed."""
        if token is not None and token_file is not None:
            raise ValueError("token, token_file: expected one of them")
        if token_file is not None:
            with open(token_file, encoding="ascii") as file:
                token = file.read().strip()
        if token is not None and not (token.isascii() and token.isprintable() and token and " " not in token):
            raise ValueError("token: expected printable ASCII characters without spaces")
        if timeout <= 0:
            raise ValueError(f"timeout: expected seconds above 0, found {timeout}")
        for server in servers:
            if token is not None and not server.is_private and not insecure:
                raise ValueError(
                    f"server: {server} would show the token to the network; use https, or say insecure=True")
        if tls is None and any(server.is_tls for server in servers):
            tls = ssl.create_default_context()
        return cls(token, tls, timeout, reconnect_for)


class Deadline:
    """A point in time, or none."""

    def __init__(self, seconds: Optional[float]) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def remaining(self) -> Optional[float]:
        """Seconds that are left, at least 0; None without end."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def bounded(self, seconds: float) -> float:
        """The seconds, or what is left when that is less."""
        remaining = self.remaining
        return seconds if remaining is None else min(seconds, remaining)


class Patience:
    """How long a client looks for a daemon that went away, and how often."""

    def __init__(self, limit: Optional[float]) -> None:
        self._limit = limit
        self.reset()

    def reset(self) -> None:
        """The daemon is there."""
        self._deadline: Optional[Deadline] = None
        self._delay = 0.025

    def delay(self, error: Exception) -> float:
        """Seconds until the next try; raises the error when there is none."""
        if self._deadline is None:
            self._deadline = Deadline(self._limit)
        if self._deadline.remaining == 0:
            raise error
        self._delay = min(2.0, self._delay * 2)
        return self._deadline.bounded(self._delay)


def encode_call(method: str, parameters: Mapping[str, Any], identity: int) -> bytes:
    """A request in one line, without its end."""
    message: Dict[str, Any] = {"jsonrpc": "2.0", "id": identity, "method": method}
    if parameters:
        message["params"] = encode(parameters)
    try:
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{method}: the parameters cannot be written as JSON: {error}") from None


def add_parts(
    tasks: Iterable[Union[str, NewTask]], options: TaskOptions,
) -> Iterator[List[Mapping[str, Any]]]:
    """The tasks with the options and keys of their own, in parts that one task.add takes."""
    part: List[Mapping[str, Any]] = []
    size = 0
    for task in tasks:
        own: Mapping[str, Any] = {"url": task} if isinstance(task, str) else task
        whole: Dict[str, Any] = {**options, **own}
        whole.setdefault("client_key", new_key())
        length = len(encode_call("task.add", whole, 0))
        if part and (len(part) == MOST_IDS or size + length > MOST_BYTES):
            yield part
            part, size = [], 0
        part.append(whole)
        size += length
    if part:
        yield part


def decode_answer(method: str, answer: Mapping[str, Any]) -> Any:
    """The result of an answer, or its error."""
    error = answer.get("error")
    if isinstance(error, dict):
        try:
            raise BY_CODE.get(error["code"], RPCError)(method, error)
        except (KeyError, TypeError, ValueError):
            raise ProtocolError(f"{method}: expected code and message, found {error}") from None
    if "result" not in answer:
        raise ProtocolError(f"{method}: the answer has neither result nor error")
    return answer["result"]


def decode_result(method: str, result: Any, decode: Callable[[Any], T]) -> T:
    """The record of a result."""
    try:
        return decode(result)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ProtocolError(
            f"{method}: the result is not what this version of xfer expects: {error!r}") from error


def time_for_answer(method: str, parameters: Mapping[str, Any], timeout: float) -> Optional[float]:
    """Seconds until the answer has to be there. task.wait has a time of its own."""
    if method != "task.wait":
        return timeout
    waiting = parameters.get("timeout")
    return waiting + timeout if isinstance(waiting, (int, float)) else None


def late(method: str, seconds: Optional[float]) -> CallTimeoutError:
    """The error for an answer that does not come, and for events that do not."""
    if method == "events":
        return CallTimeoutError("no event came in time")
    return CallTimeoutError(f"{method}: no answer within {seconds} seconds; it may have been carried out")


def lost(method: str, error: object) -> ConnectionLostError:
    """The error for a connection that ended."""
    return ConnectionLostError(f"{method}: the connection was lost before the answer: {error}")


def parts(ids: Sequence[int]) -> List[List[int]]:
    """The ids in lists that one call takes."""
    return [list(ids[start:start + MOST_IDS]) for start in range(0, len(ids), MOST_IDS)]


def unended(answer: Mapping[str, Any]) -> List[int]:
    """The tasks that a task.wait without rows has not seen end; raises if one is gone."""
    missing = answer.get("missing", [])
    if missing:
        raise TaskRemovedError(missing[0])
    return list(answer.get("open", []))


def new_key() -> str:
    """A client_key, which makes an add safe to repeat."""
    return f"python-{uuid.uuid4()}"


def ended(task_id: int, result: TaskWaitResult) -> Optional[TaskRecord]:
    """The task if it is done or staged, None if it goes on; raises if it ended otherwise."""
    task = next((task for task in result.tasks if task.id == task_id), None)
    if task is None:
        raise TaskRemovedError(task_id)
    if task.state == "failed":
        raise TaskFailedError(task)
    if task.state == "cancelled":
        raise TaskCancelledError(task)
    return task if task.state in ("completed", "staged") else None


def has_changed(task_id: int, result: SelectionResult) -> bool:
    """Whether a task that was named alone has changed."""
    if isinstance(result, SelectionResultListed):
        if task_id in result.missing:
            raise TaskRemovedError(task_id)
        return task_id in result.changed
    return isinstance(result, SelectionResultCounted) and result.changed_count > 0


class Position:
    """Where a client is in the stream of events, over all its connections."""

    def __init__(
        self, since: Optional[int], types: Union[EventName, Sequence[EventName], None],
        task_ids: Union[int, Sequence[int], None],
    ) -> None:
        self.last_seq = since
        self.store_id: Optional[str] = None
        self._types = [types] if isinstance(types, str) else None if types is None else list(types)
        self._task_ids = [task_ids] if isinstance(task_ids, int) else None if task_ids is None else list(task_ids)

    @property
    def parameters(self) -> Dict[str, Any]:
        """The parameters of events.subscribe."""
        chosen = {"types": self._types, "task_ids": self._task_ids, "since": self.last_seq}
        return {name: value for name, value in chosen.items() if value is not None}

    def check(self, store_id: Optional[str]) -> None:
        """Compares the daemon's database with the one that the position is in."""
        if store_id is None:
            return
        if self.store_id not in (None, store_id):
            raise StoreChangedError(str(self.store_id), store_id)
        self.store_id = store_id

    def begin(self, result: EventsSubscribeResult) -> Optional[EventsLostError]:
        """Takes the answer of events.subscribe."""
        if self.last_seq is None:
            self.last_seq = result.last_seq
        return self.skip(result.first_seq) if result.gap and result.first_seq is not None else None

    def skip(self, first_seq: int) -> Optional[EventsLostError]:
        """Goes on with the oldest event that is kept. Since 0 means just that, so nothing is lost then."""
        since = self.last_seq or 0
        self.last_seq = max(since, first_seq - 1)
        return EventsLostError(since, first_seq) if since > 0 else None

    def accept(self, wire: Mapping[str, Any]) -> Union[Event, None]:
        """The event, unless it was not asked for or is older than the position."""
        event = decode_result("event", wire, decode_event)
        seq = event.seq
        if seq is not None:
            if self.last_seq is not None and seq <= self.last_seq:
                return None
            self.last_seq = seq
        if isinstance(event, EventsOverflowEvent):
            return event
        if self._types is not None and event.type not in self._types:
            return None
        if self._task_ids is not None and event.task_id not in self._task_ids:
            return None
        return event


def is_refusal(error: Exception) -> bool:
    """Whether the daemon will not say which database it has, which a token of a small scope meets."""
    return isinstance(error, UnauthorizedError) or (isinstance(error, RPCError) and error.code == -32003)
