"""A server of one's own: ``grfgp serve`` for as long as a ``with`` block lasts."""

from __future__ import annotations

import atexit
import json
import os
import secrets
import subprocess
import tempfile
import threading
from typing import IO, Any, Dict, List, Optional, Union

from . import _binary
from ._http import Connection
from .errors import InternalError, of_exit_code
from .study import Study

# Time that a server has to close its store.
_patience = 25.0


class Server:
    """A running server; :func:`serve` starts one.

    ``url`` and ``token`` are for other clients, ``create`` and ``study`` for this one.
    """

    def __init__(self, store: Union[None, str, "os.PathLike[str]"] = None, *, listen: str = "127.0.0.1:0", token: Optional[str] = None, verbose: bool = False):
        self._folder = tempfile.TemporaryDirectory(prefix="grfgp-")
        self.store = os.path.abspath(os.fspath(store)) if store is not None else os.path.join(self._folder.name, "studies.db")
        self.token = token or secrets.token_urlsafe(32)
        self._lines: List[str] = []
        atexit.register(self.stop)  # for those who use no with block
        try:
            self._child = self._start(listen, verbose)
            self.url = self._address()
        except BaseException:
            self.stop()
            raise
        self._http = Connection(self.url, self.token)

    def _start(self, listen: str, verbose: bool) -> "subprocess.Popen[bytes]":
        file = os.path.join(self._folder.name, "token")
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as f:
            f.write(self.token + "\n")
        command = [_binary.path(), "serve", "--store", self.store, "--listen", listen, "--token-file", file, "--json", *([] if verbose else ["--quiet"])]
        # A group of its own: Ctrl-C reaches this process, which then ends the server.
        apart: Dict[str, Any] = {"creationflags": 0x200} if os.name == "nt" else {"start_new_session": True}
        child = subprocess.Popen(command, cwd=self._folder.name, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **apart)
        self._reader = threading.Thread(target=_binary._read, args=(child.stderr, self._lines, verbose), daemon=True)
        self._reader.start()
        return child

    def _address(self) -> str:
        out: Optional[IO[bytes]] = self._child.stdout
        assert out is not None
        line = out.readline()
        if line:
            return str(json.loads(line)["url"])
        code = self._child.wait()
        self._reader.join()
        raise of_exit_code(code, _binary._message(self._lines)) if code else InternalError("the server ended before it began")

    def create(self, name: str, graph: Any, *, goal: str = "learn", budget: Optional[float] = None, **settings: Any) -> Study:
        """Create a study, or open the same one; see :meth:`grfgp.Study.create`."""
        return Study.create(self._http, name, graph, goal=goal, budget=budget, **settings)

    def study(self, name: str, graph: Any = None, by: str = "") -> Study:
        """Open a study."""
        return Study(self._http, name, graph=graph, by=by)

    def studies(self) -> List[str]:
        """Return the names of the studies."""
        return [s["name"] for s in self._http.call("GET", "/v1/studies")["studies"]]

    def stop(self) -> None:
        """End the server; all that was told is in its store."""
        child = getattr(self, "_child", None)
        if child is not None:
            if child.poll() is None:
                child.terminate()
                try:
                    child.wait(_patience)
                except subprocess.TimeoutExpired:
                    child.kill()
                    child.wait()
            self._reader.join()
            for stream in (child.stdout, child.stderr):
                if stream is not None:
                    stream.close()
        self._folder.cleanup()
        atexit.unregister(self.stop)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<grfgp.Server {self.url}, store {self.store}>"


def serve(store: Union[None, str, "os.PathLike[str]"] = None, *, listen: str = "127.0.0.1:0", token: Optional[str] = None, verbose: bool = False) -> Server:
    """Start a server on a free port of this machine; use it in a ``with`` block.

    Parameters
    ----------
    store : path, optional
        File that keeps the studies. None: a temporary one, which is removed at the end.
    listen : str
        Address; port 0 is a free one, and ``unix:FILE`` a unix socket.
    token : str, optional
        Token that clients need. None: a random one, ``token`` of the server.

    Examples
    --------
    >>> with serve() as server:
    ...     server.studies()
    []
    """
    return Server(store, listen=listen, token=token, verbose=verbose)
