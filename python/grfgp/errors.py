"""Errors of the package, one class for each kind of failure.

Every error is a :class:`GrfgpError`, and most are a built-in exception as well, so that
``except ValueError`` works for data that cannot be used. Their text is what the program or
the server says.

>>> issubclass(BadData, ValueError), issubclass(TooLarge, MemoryError)
(True, True)
"""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence


class GrfgpError(Exception):
    """An error of grfgp.

    ``exit_code`` is the exit code of the program, if a run of it failed. ``kind`` and
    ``status`` are those of the answer of a server, such as ``"conflict"`` and 409.
    """

    exit_code: Optional[int] = None
    kind: Optional[str] = None
    status: Optional[int] = None
    pointers: Sequence[Mapping[str, Any]] = ()


class InternalError(GrfgpError, RuntimeError):
    """The program or the server failed; this is a bug, or a disk that is full."""


class UsageError(GrfgpError, ValueError):
    """An argument is wrong, or the data can be read in more than one way."""


class BadData(GrfgpError, ValueError):
    """The data cannot be used: an unknown node, a value that is no number, and so on."""


class FitError(GrfgpError, RuntimeError):
    """No model could be fitted to the data."""


class NoModel(FitError):
    """A study has too few measurements for a model."""


class StoreInUse(GrfgpError, RuntimeError):
    """Another process uses the store."""


class Conflict(GrfgpError, RuntimeError):
    """The command contradicts an earlier one, such as another value for the same trial."""


class Unreachable(GrfgpError, ConnectionError):
    """No server answers at the address, or its answers are lost on the way."""


class AccessDenied(GrfgpError, PermissionError):
    """The server does not accept the token, or the token does not allow the command."""


class NotFound(GrfgpError, LookupError):
    """The server has no such study, graph or trial."""


class NothingLeft(GrfgpError, RuntimeError):
    """There is no node left to suggest."""


class TooLarge(GrfgpError, MemoryError):
    """The model needs more memory, time or graphics cards than this machine, or the server, has."""


class ProgramMissing(GrfgpError, FileNotFoundError):
    """The program grfgp is not installed."""


class GrfgpWarning(UserWarning):
    """Something that changes the answer and may not be what was meant."""


_by_exit_code = {
    2: UsageError,
    3: BadData,
    4: FitError,
    5: StoreInUse,
    6: Conflict,
    7: Unreachable,
    8: NothingLeft,
    9: TooLarge,
}

_by_kind = {
    "conflict": Conflict,
    "no-model": NoModel,
    "no-fit": FitError,
    "quarantined": FitError,
    "too-costly": TooLarge,
    "no-memory": TooLarge,
    "not-finite": BadData,
    "unknown-node": BadData,
    "wrong-kind": BadData,
    "bad-data": BadData,
    "not-found": NotFound,
    "unauthorized": AccessDenied,
    "slowed": AccessDenied,
    "role": AccessDenied,
    "unknown-proxy": AccessDenied,
    "read-only": AccessDenied,
    "cross-site": AccessDenied,
    "wrong-host": AccessDenied,
    "busy": Unreachable,
    "loading": Unreachable,
    "stopping": Unreachable,
    "unavailable": Unreachable,
}


def of_exit_code(code: int, text: str) -> GrfgpError:
    """Return the error of a run of the program that ended with ``code``.

    >>> of_exit_code(3, "edges.csv:2:5: the weight is no number")
    BadData('edges.csv:2:5: the weight is no number')
    """
    error = _by_exit_code.get(code, InternalError)(text)
    error.exit_code = code
    return error


def of_problem(status: int, kind: str, detail: str, pointers: Sequence[Mapping[str, Any]] = ()) -> GrfgpError:
    """Return the error of an answer ``application/problem+json`` of a server."""
    if pointers:
        detail += "".join(f"; {p.get('pointer', '')}: {p.get('detail', '')}" for p in pointers)
    error = _by_kind.get(kind, UsageError if status < 500 else InternalError)(detail)
    error.kind, error.status, error.pointers = kind, status, tuple(pointers)
    return error
