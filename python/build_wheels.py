#!/usr/bin/env python3
"""Build wheels: the package together with the program, for one platform each.

    python3 build_wheels.py                # all platforms, into dist/
    python3 build_wheels.py --here         # this machine only
    python3 build_wheels.py linux/arm64    # some platforms

Needs Go and nothing of Python but its standard library. The program is linked statically
(CGO_ENABLED=0), so that a wheel runs on every system of its platform. The same sources and
the same version of Go give the same bytes.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import platform
import re
import stat
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Dict, List, Tuple

here = Path(__file__).resolve().parent
root = here.parent

# Platforms of Go, and the tags of wheels that run there. A static program asks nothing of
# the C library, so that glibc and musl are both fine; Go needs Linux 3.2 and macOS 12.
platforms: Dict[str, List[str]] = {
    "linux/amd64": ["manylinux2014_x86_64", "manylinux_2_17_x86_64", "musllinux_1_1_x86_64"],
    "linux/arm64": ["manylinux2014_aarch64", "manylinux_2_17_aarch64", "musllinux_1_1_aarch64"],
    "darwin/amd64": ["macosx_12_0_x86_64"],
    "darwin/arm64": ["macosx_12_0_arm64"],
    "windows/amd64": ["win_amd64"],
    "windows/arm64": ["win_arm64"],
}

# The earliest time that a zip file can hold.
_epoch = (1980, 1, 1, 0, 0, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description="Build wheels that carry the program.")
    parser.add_argument("platform", nargs="*", help="platforms, such as linux/arm64 (default: all)")
    parser.add_argument("--here", action="store_true", help="this machine's platform only")
    parser.add_argument("-o", "--out", type=Path, default=here / "dist", help="folder for the wheels")
    args = parser.parse_args()
    chosen = args.platform or ([this_platform()] if args.here else list(platforms))
    for name in chosen:
        if name not in platforms:
            parser.error(f"there is no platform {name}; the platforms are {', '.join(platforms)}")
    args.out.mkdir(parents=True, exist_ok=True)
    for name in chosen:
        print(build(name, args.out))


def this_platform() -> str:
    """Return the platform of this machine, as Go names it."""
    system = {"Linux": "linux", "Darwin": "darwin", "Windows": "windows"}.get(platform.system(), "")
    machine = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower(), "")
    return f"{system}/{machine}"


def version() -> str:
    """Return the version, which the program has from the same file, as Python writes it.

    A pre-release 1.2.0-rc.1 is 1.2.0rc1 in Python (PEP 440).
    """
    text = (root / "internal" / "version" / "version.txt").read_text(encoding="ascii").strip()
    match = re.fullmatch(r"(\d+\.\d+\.\d+)(?:-(alpha|beta|rc|dev)\.?(\d*))?", text)
    if match is None:
        sys.exit(f"internal/version/version.txt has {text!r}: want 1.2.3, or a pre-release such as 1.2.3-rc.1")
    number, kind, count = match.groups()
    if kind is None:
        return number
    return number + {"alpha": "a", "beta": "b", "rc": "rc", "dev": ".dev"}[kind] + (count or "0")


def build(name: str, out: Path) -> Path:
    """Build the program for a platform, and its wheel."""
    system, machine = name.split("/")
    with tempfile.TemporaryDirectory(prefix="grfgp-wheel-") as folder:
        program = Path(folder) / ("grfgp.exe" if system == "windows" else "grfgp")
        # Compiled for the machine alone: no paths, no build id, no symbols.
        command = ["go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", str(program), "./cmd/grfgp"]
        env = {**os.environ, "CGO_ENABLED": "0", "GOOS": system, "GOARCH": machine}
        if subprocess.run(command, cwd=root, env=env).returncode != 0:
            sys.exit(f"the program could not be built for {name}")
        return write_wheel(out, name, program.read_bytes(), program.name)


def write_wheel(out: Path, name: str, program: bytes, program_name: str) -> Path:
    """Write a wheel as PEP 427 describes it: a zip file with the sums of all its files."""
    number = version()
    tags = [f"py3-none-{tag}" for tag in platforms[name]]
    info = f"grfgp-{number}.dist-info"
    files: List[Tuple[str, bytes, bool]] = []
    for path in sorted((here / "grfgp").rglob("*")):
        if path.is_file() and path.suffix in (".py", ".typed"):
            files.append(("grfgp/" + path.relative_to(here / "grfgp").as_posix(), path.read_bytes(), False))
    files += [
        ("grfgp/version.txt", (number + "\n").encode(), False),
        (f"grfgp/bin/{program_name}", program, True),
        (f"{info}/METADATA", metadata(number), False),
        (f"{info}/WHEEL", ("Wheel-Version: 1.0\nGenerator: build_wheels.py\nRoot-Is-Purelib: false\n" + "".join(f"Tag: {t}\n" for t in tags)).encode(), False),
        (f"{info}/entry_points.txt", b"[console_scripts]\ngrfgp = grfgp._binary:main\n", False),
        (f"{info}/licenses/LICENSE", (root / "LICENSE").read_bytes(), False),
        (f"{info}/top_level.txt", b"grfgp\n", False),
    ]
    record = "".join(f"{file},sha256={digest(data)},{len(data)}\n" for file, data, _ in files) + f"{info}/RECORD,,\n"
    files.append((f"{info}/RECORD", record.encode(), False))

    target = out / f"grfgp-{number}-py3-none-{'.'.join(platforms[name])}.whl"
    unfinished = target.with_suffix(".unfinished")
    with zipfile.ZipFile(unfinished, "w") as wheel:
        for file, data, executable in files:
            entry = zipfile.ZipInfo(file, _epoch)
            entry.create_system = 3  # Unix, which has modes
            entry.external_attr = (stat.S_IFREG | (0o755 if executable else 0o644)) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data, compresslevel=9)
    unfinished.replace(target)
    return target


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def metadata(number: str) -> bytes:
    head = f"""\
Metadata-Version: 2.1
Name: grfgp
Version: {number}
Summary: Gaussian processes on the nodes of a graph
License: MIT
License-File: LICENSE
Classifier: License :: OSI Approved :: MIT License
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: all
Requires-Dist: scipy ; extra == 'all'
Requires-Dist: pandas ; extra == 'all'
Requires-Dist: networkx ; extra == 'all'
Requires-Dist: scikit-learn ; extra == 'all'
Description-Content-Type: text/markdown

"""
    return head.encode() + (here / "README.md").read_bytes()


if __name__ == "__main__":
    main()
