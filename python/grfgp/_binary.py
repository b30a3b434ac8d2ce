"""Find and run the program grfgp."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import IO, Iterator, List, Optional, Sequence

from .errors import GrfgpWarning, ProgramMissing, of_exit_code

_name = "grfgp.exe" if os.name == "nt" else "grfgp"

# Time that an interrupted program has to end by itself; it needs about a second.
_patience = 5.0


def path() -> str:
    """Return the path of the program.

    It is the file that the environment variable ``GRFGP_BIN`` names, the one that came
    with this package, or ``grfgp`` in ``PATH``, in this order.
    """
    named = os.environ.get("GRFGP_BIN")
    if named:
        if not os.path.isfile(named):
            raise ProgramMissing(f"GRFGP_BIN names {named}, and there is no such file")
        return named
    bundled = Path(__file__).with_name("bin") / _name
    if bundled.is_file():
        return str(bundled)
    found = shutil.which("grfgp")
    if found and not _is_script(found):
        return found
    raise ProgramMissing("the program grfgp is not installed: install a wheel of this package, which brings it, or let GRFGP_BIN name the program")


def _is_script(file: str) -> bool:
    """Tell whether a file is the script that pip makes for main(), which would run itself."""
    with open(file, "rb") as f:
        return f.read(2) == b"#!"


def main() -> int:
    """Run the program with the arguments of this process; the command ``grfgp``."""
    command = [path(), *sys.argv[1:]]
    if os.name != "nt":
        os.execv(command[0], command)  # signals and exit code are then its own
    return subprocess.call(command)


def run(args: Sequence[str], folder: str, answer: str, *, verbose: bool = False) -> None:
    """Run the program in a folder, and raise the error of its exit code.

    Its standard output goes to the file ``answer``. With ``verbose`` its progress goes to
    ``sys.stderr``; without, it says only what is lost of the data, as Python's warnings.
    """
    command = [path(), *args] if verbose else [path(), *args, "--quiet"]
    lines: List[str] = []
    with open(answer, "wb") as out:
        with _uninterrupted() as interrupted:
            child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE)
            reader = threading.Thread(target=_read, args=(child.stderr, lines, verbose), daemon=True)
            reader.start()
        try:
            if interrupted:
                raise KeyboardInterrupt
            code = child.wait()
        except BaseException:
            _stop(child)
            raise
        finally:
            reader.join()
            assert child.stderr is not None
            child.stderr.close()
    text = _message(lines)
    if code == 130 or code == -signal.SIGINT:
        raise KeyboardInterrupt(text)
    if code != 0:
        raise of_exit_code(code, text or f"the program ended with exit code {code} and no message")
    if not verbose:
        for line in lines:
            warnings.warn(line.strip(), GrfgpWarning, stacklevel=5)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[List[int]]:
    """Put Ctrl-C off while a child is started, which would otherwise be lost sight of.

    The list has the signals that came meanwhile. Only the main thread gets any.
    """
    came: List[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)


def _read(stream: Optional[IO[bytes]], lines: List[str], echo: bool) -> None:
    assert stream is not None
    for raw in stream:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if echo:
            print(line, file=sys.stderr, flush=True)
        if line.strip():
            lines.append(line)


def _message(lines: Sequence[str]) -> str:
    """Return what the program says about its failure: its last words, which begin with its name."""
    for k in range(len(lines) - 1, -1, -1):
        if lines[k].startswith("grfgp: "):
            return "\n".join([lines[k][len("grfgp: "):], *lines[k + 1:]])
    return "\n".join(lines)


def _stop(child: "subprocess.Popen[bytes]") -> None:
    """End a child: politely at first, so that it leaves no file incomplete."""
    if child.poll() is None:
        if os.name == "nt":
            child.terminate()
        else:
            child.send_signal(signal.SIGINT)
        try:
            child.wait(_patience)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
