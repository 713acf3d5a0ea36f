"""A client of xferd, the transfer service. `Client` blocks, `AsyncClient` is for asyncio.

    import xfer

    with xfer.Client() as client:
        task = client.add("https://example.org/big.iso", dir="/home/ada/Downloads")
        print(task.wait().final_path)
"""
from . import records, rpc_errors
from ._values import UNSET, UnknownEvent
from .async_client import AsyncClient, AsyncTask
from .async_events import AsyncEvents
from .client import Client, Task
from .errors import (
    CallTimeoutError, ConnectionLostError, EventsLostError, HTTPStatusError, NoDaemonError, OperationTimeoutError,
    ProtocolError, RPCError, StoreChangedError, TaskCancelledError, TaskError, TaskFailedError, TaskRemovedError,
    UnauthorizedError, UnavailableError, WaitTimeoutError, XferError,
)
from .events import Events

__version__ = "1.0.0"

__all__ = [
    "UNSET", "AsyncClient", "AsyncEvents", "AsyncTask", "CallTimeoutError", "Client", "ConnectionLostError", "Events",
    "EventsLostError", "HTTPStatusError", "NoDaemonError", "OperationTimeoutError", "ProtocolError", "RPCError",
    "StoreChangedError", "Task", "TaskCancelledError", "TaskError", "TaskFailedError", "TaskRemovedError", "UnauthorizedError",
    "UnavailableError", "UnknownEvent", "WaitTimeoutError", "XferError", "records", "rpc_errors",
]
