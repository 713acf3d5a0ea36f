"""The errors that the daemon answers, by their codes.

scripts/generate-python-client writes this file from rpc-schema/openrpc.json.
"""
from __future__ import annotations

from typing import Dict, Type

from .errors import RPCError


class ParseError(RPCError):
    """The message is not JSON, or not in the strict form that this service accepts."""


class InvalidRequestError(RPCError):
    """The message is JSON but not a JSON-RPC 2.0 request, or exceeds a limit."""


class MethodNotFoundError(RPCError):
    """There is no such method."""


class InvalidParamsError(RPCError):
    """A parameter is unknown, missing, of the wrong type, or out of range; data.path is its name.
    """


class InternalError(RPCError):
    """An error inside the service."""


class NotFoundError(RPCError):
    """The object does not exist, or belongs to another user."""


class InvalidStateError(RPCError):
    """The task's state does not allow this."""


class PermissionDeniedError(RPCError):
    """The caller may not do this."""


class RejectedByPolicyError(RPCError):
    """The service's configuration refuses this."""


class ConflictError(RPCError):
    """The request contradicts the present state; data.reason is the cause (key_reused, …)."""


class LimitExceededError(RPCError):
    """A limit is reached; data.limit is its value where it is a number."""


class StorageUnavailableError(RPCError):
    """The database cannot be written at present; reading works."""


class ShuttingDownError(RPCError):
    """The service is about to stop and accepts no new work."""


BY_CODE: Dict[int, Type[RPCError]] = {
    -32700: ParseError,
    -32600: InvalidRequestError,
    -32601: MethodNotFoundError,
    -32602: InvalidParamsError,
    -32603: InternalError,
    -32001: NotFoundError,
    -32002: InvalidStateError,
    -32003: PermissionDeniedError,
    -32004: RejectedByPolicyError,
    -32005: ConflictError,
    -32006: LimitExceededError,
    -32007: StorageUnavailableError,
    -32008: ShuttingDownError,
}
