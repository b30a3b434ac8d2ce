"""The version, from the file that all parts of the project share.

Wheels have a copy of it; in the sources it is internal/version/version.txt.
"""

from pathlib import Path

_copy = Path(__file__).with_name("version.txt")
_shared = Path(__file__).parents[2] / "internal" / "version" / "version.txt"

__version__: str = (_copy if _copy.is_file() else _shared).read_text(encoding="ascii").strip()
