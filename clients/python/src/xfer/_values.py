"""How values cross the wire: parameters that are left out, times, lists."""
from __future__ import annotations

import enum
import os
import re
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Awaitable, Callable, Dict, List, Mapping, Optional, Protocol, TypeVar, Union

T = TypeVar("T")


class Unset(enum.Enum):
    """The type of UNSET."""

    UNSET = "UNSET"


UNSET = Unset.UNSET
"""A parameter that is not sent. None is sent as null, which means something else."""

Maybe = Union[T, Unset]
Time = Union[datetime, str]
"""A datetime with a time zone, or RFC 3339 text."""


class Caller(Protocol):
    """What the methods call the daemon by."""

    def ask(self, method: str, parameters: Mapping[str, Any], decode: Callable[[Any], T]) -> T:
        """Calls a method and decodes its result."""


class AsyncCaller(Protocol):
    """What the methods call the daemon by, for asyncio."""

    def ask(
        self, method: str, parameters: Mapping[str, Any], decode: Callable[[Any], T]
    ) -> Awaitable[T]:
        """Calls a method and decodes its result."""


@dataclass(frozen=True)
class UnknownEvent:
    """An event of a type that this version of the package does not know."""

    type: str
    time: datetime
    fields: Mapping[str, Any]
    """All of the event, as it was received."""
    seq: Optional[int] = None
    task_id: Optional[int] = None

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> UnknownEvent:
        """Reads what the daemon sent."""
        return cls(
            type=wire["type"], time=parse_time(wire["time"]), fields=wire, seq=wire.get("seq"),
            task_id=wire.get("task_id"),
        )


def as_object(wire: Any) -> Dict[str, Any]:
    """Reads a result without a type of its own."""
    if not isinstance(wire, dict):
        raise TypeError(f"expected an object, found {type(wire).__name__}")
    return wire


def optional(decode: Callable[[Any], T], wire: Any) -> Optional[T]:
    """Decodes a value that may be absent or null."""
    return None if wire is None else decode(wire)


def listed(decode: Callable[[Any], T]) -> Callable[[Any], List[T]]:
    """Decodes every element of an array."""
    return lambda wire: [decode(element) for element in wire]


def parse_time(text: str) -> datetime:
    """Reads RFC 3339. Digits beyond microseconds are dropped."""
    found = re.fullmatch(
        r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)", text, re.ASCII)
    if found is None:
        raise ValueError(f"expected a time such as 2026-01-02T22:00:00Z, found {text!r}")
    date, clock, fraction, zone = found.groups()
    micros = (fraction or "")[:6].ljust(6, "0")
    offset = "+00:00" if zone in "Zz" else zone
    return datetime.fromisoformat(f"{date}T{clock}.{micros}{offset}")


def encode(parameters: Mapping[str, Any]) -> Dict[str, Any]:
    """The parameters of a call, without those that are UNSET."""
    return {
        name: _encoded(value, name) for name, value in parameters.items() if value is not UNSET
    }


def _encoded(value: Any, path: str) -> Any:
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise ValueError(f"{path}: a datetime needs a time zone, such as timezone.utc")
        text = value.astimezone(timezone.utc).isoformat(timespec="milliseconds")
        return text.replace("+00:00", "Z")
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {key: _encoded(part, f"{path}.{key}") for key, part in value.items() if part is not UNSET}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_encoded(part, f"{path}[{index}]") for index, part in enumerate(value)]
    return value
