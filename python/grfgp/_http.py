"""Requests to a server: JSON over HTTP, on a port or a unix socket."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import time
import uuid
from typing import Any, Dict, Mapping, Optional, Tuple
from urllib.parse import urlencode, urlsplit

from .errors import GrfgpError, Unreachable, UsageError, of_problem

# Attempts at a request that the server had no time for, or whose answer was lost. The
# pause doubles each time.
_attempts = 5
_first_pause = 0.2


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Connection:
    """The address of a server and the token for it.

    Requests whose repetition has no further effect are sent again when the connection
    breaks. While the server loads a graph or fits a model, requests wait for up to ``wait``
    seconds.
    """

    def __init__(self, url: str, token: Optional[str] = None, *, timeout: float = 300.0, wait: float = 3600.0):
        self.url = url.rstrip("/")
        self.token = token
        self.timeout, self.wait = timeout, wait
        parts = urlsplit(self.url)
        if parts.scheme == "unix":
            self._socket, self._base = self.url[len("unix:"):], ""
            return
        self._socket, self._base = "", parts.path
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
            raise UsageError(f"{url}: give the address of a server, such as http://127.0.0.1:8080 or unix:/run/grfgp/grfgp.sock")
        if parts.path.endswith("/v1"):
            raise UsageError(f"{url}: leave /v1 out")

    def __repr__(self) -> str:
        return f"<Connection {self.url}>"  # without the token

    def call(
        self, method: str, path: str, body: Any = None, *, query: Optional[Mapping[str, Any]] = None,
        key: Optional[str] = None, raw: Optional[bytes] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> Any:
        """Send a request, and return what the answer holds."""
        data = self.fetch(method, path, body, query=query, key=key, raw=raw, headers=headers)
        return json.loads(data) if data else None

    def fetch(
        self, method: str, path: str, body: Any = None, *, query: Optional[Mapping[str, Any]] = None,
        key: Optional[str] = None, raw: Optional[bytes] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> bytes:
        """Send a request, and return the answer as it comes."""
        head = {"Accept": "application/json, */*", **(headers or {})}
        if body is not None:
            raw, head["Content-Type"] = json.dumps(body, allow_nan=False).encode(), "application/json"
        if key is not None:
            head["Idempotency-Key"] = key
        if self.token:
            head["Authorization"] = "Bearer " + self.token
        target = self._base + path + ("?" + urlencode(query, doseq=True) if query else "")
        pause, patience, attempt = _first_pause, time.monotonic() + self.wait, 1
        while True:
            try:
                return self._once(method, target, raw, head)
            except GrfgpError as err:
                again = getattr(err, "retry_after", None)
                if err.kind == "loading" and again is not None and time.monotonic() < patience:
                    time.sleep(again)
                    continue
                lost = err.kind == "busy" or getattr(err, "lost", False) and (method != "POST" or key is not None)
                if not lost or attempt >= _attempts:
                    raise
            attempt += 1
            time.sleep(pause)
            pause *= 2

    def _open(self) -> http.client.HTTPConnection:
        if self._socket:
            return _UnixConnection(self._socket, self.timeout)
        parts = urlsplit(self.url)
        assert parts.hostname is not None
        if parts.scheme == "https":
            return http.client.HTTPSConnection(parts.hostname, parts.port, timeout=self.timeout, context=ssl.create_default_context())
        return http.client.HTTPConnection(parts.hostname, parts.port, timeout=self.timeout)

    def _once(self, method: str, target: str, raw: Optional[bytes], head: Dict[str, str]) -> bytes:
        connection = self._open()
        try:
            try:
                connection.connect()
            except OSError as err:
                raise Unreachable(f"the server cannot be reached: {self.url}: {err}") from err
            try:
                connection.request(method, target, raw, head)
                answer = connection.getresponse()
                data = answer.read()
            except (OSError, http.client.HTTPException) as err:
                error = Unreachable(f"the connection to the server was lost: {self.url}: {err!r}")
                error.lost = True  # type: ignore[attr-defined]
                raise error from err
        finally:
            connection.close()
        if answer.status // 100 != 2:
            raise self._problem(answer, data)
        return data

    def _problem(self, answer: http.client.HTTPResponse, data: bytes) -> GrfgpError:
        kind = (answer.getheader("Content-Type") or "").partition(";")[0].strip()
        try:
            body = json.loads(data) if kind == "application/problem+json" else None
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return Unreachable(f"the answer is not that of a grfgp server: {self.url}: {answer.status} {answer.reason}")
        error = of_problem(answer.status, str(body.get("type", "")).rpartition(":")[2], body.get("detail") or body.get("title") or answer.reason, body.get("errors") or ())
        try:
            error.retry_after = max(1, int(answer.getheader("Retry-After") or 1))  # type: ignore[attr-defined]
        except ValueError:
            error.retry_after = 1  # type: ignore[attr-defined]
        return error


def new_key() -> str:
    """Return a key under which a request may be repeated."""
    return uuid.uuid4().hex


def form(files: Mapping[str, str]) -> Tuple[bytes, str]:
    """Return files as a form, and its content type."""
    border = uuid.uuid4().hex
    parts = []
    for name, path in files.items():
        with open(path, "rb") as f:
            content = f.read()
        file = path.replace("\\", "/").rpartition("/")[2].replace('"', "")
        parts += [f'--{border}\r\nContent-Disposition: form-data; name="{name}"; filename="{file}"\r\nContent-Type: application/octet-stream\r\n\r\n'.encode(), content, b"\r\n"]
    parts.append(f"--{border}--\r\n".encode())
    return b"".join(parts), "multipart/form-data; boundary=" + border
