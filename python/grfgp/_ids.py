"""Ids of nodes and names of classes: as Python has them, and as text in the program's files."""

from __future__ import annotations

import csv
import unicodedata
from typing import Any, Dict, Hashable, Iterable, List, Sequence

from .errors import BadData, UsageError

# Words that the program reads as a missing value.
_missing = {"", "-", "na", "n/a", "#n/a", "nan", "null", "none"}


def plain(value: Any) -> Hashable:
    """Return a scalar of numpy as Python's own, which prints as it reads."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    result: Hashable = value
    return result


def text_of(value: Hashable, what: str = "node") -> str:
    """Return an id as the text that stands for it in files.

    >>> text_of("007"), text_of(7), text_of((0, 1))
    ('007', '7', '(0, 1)')
    """
    if value is None or isinstance(value, (bytes, float)) and value != value or isinstance(value, bytes):
        raise BadData(f"{value!r} cannot be the id of a {what}: ids are integers, texts or tuples of these")
    text = str(value)
    if not text or text[0] in " \t" or text[-1] in " \t":
        raise BadData(f"the {what} {value!r} is empty, or has blanks around it, which files do not keep; rename it")
    if any(unicodedata.category(c) in ("Cc", "Cs") for c in text):
        raise BadData(f"the {what} {value!r} has control characters; rename it")
    return text


def class_text(value: Hashable) -> str:
    """Return the text of a class.

    >>> class_text("oak"), class_text(True)
    ('oak', 'True')
    """
    text = text_of(value, "class")
    if text.lower() in _missing:
        raise BadData(f"the class {value!r} would be read as a missing value; give it another name")
    return text


class Names:
    """A list of distinct ids, and the text of each."""

    def __init__(self, values: Iterable[Hashable], what: str = "node"):
        self.values: List[Hashable] = []
        self.texts: List[str] = []
        self.number: Dict[Hashable, int] = {}
        self._what = what
        self._by_text: Dict[str, int] = {}
        make = class_text if what == "class" else text_of
        for value in values:
            value = plain(value)
            if value in self.number:
                continue
            text = make(value)  # type: ignore[operator]
            if text in self._by_text:
                other = self.values[self._by_text[text]]
                raise BadData(f"the {what} ids {other!r} and {value!r} are written alike; give them ids of one type")
            self.number[value] = self._by_text[text] = len(self.values)
            self.values.append(value)
            self.texts.append(text)

    def __len__(self) -> int:
        return len(self.values)

    def of_text(self, text: str) -> Hashable:
        """Return the id that a text of the program stands for."""
        return self.values[self._by_text[text]]

    def numbers(self, values: Iterable[Hashable]) -> List[int]:
        """Return the places of ids in the list."""
        found, unknown = [], []
        for value in values:
            k = self.number.get(plain(value))
            if k is None:
                unknown.append(plain(value))
            else:
                found.append(k)
        if unknown:
            raise BadData(self._strangers(unknown, len(found) + len(unknown)))
        return found

    def _strangers(self, unknown: Sequence[Hashable], total: int) -> str:
        some = ", ".join(repr(v) for v in list(dict.fromkeys(unknown))[:3])
        words = f"{len(unknown)} of {total} {self._what}s are not in the graph, such as {some}"
        first = unknown[0]
        alike = [v for v in self.values if type(v) is not type(first) and str(v).lstrip("0") == str(first).lstrip("0")]
        if alike:
            return f"{words}; the graph has {alike[0]!r}: give ids of the same type"
        return f"{words}; the graph has {self._what}s such as {', '.join(repr(v) for v in self.values[:3])}"


def nodes_of(X: Any) -> List[Hashable]:
    """Return the node ids of the argument X of an estimator.

    X is a list, an array of shape (n,) or (n, 1), a Series, an Index, or a DataFrame with a
    column ``node`` or with one column.

    >>> nodes_of([["a"], ["b"]]), nodes_of(("a", "b")), nodes_of([(0, 1), (0, 2)])
    (['a', 'b'], ['a', 'b'], [(0, 1), (0, 2)])
    """
    columns = getattr(X, "columns", None)
    if columns is not None:
        if "node" in columns:
            others = [str(c) for c in columns if c != "node"]
            if others:
                raise UsageError(
                    f"X has the columns {', '.join(others)} beside node. Covariates belong to all nodes of the graph, not to X: "
                    "give them as Graph(edges, nodes=table), and name them in covariates=[…]"
                )
            X = X["node"]
        elif len(columns) == 1:
            X = X[columns[0]]
        else:
            raise UsageError(f"X has the columns {', '.join(str(c) for c in columns)}: which holds the nodes? Pass that column, or name it node")
    if hasattr(X, "tolist"):
        X = X.tolist()
    if isinstance(X, (str, bytes)) or not hasattr(X, "__iter__"):
        raise UsageError(f"X is {X!r}: give a list or an array of nodes")
    found = []
    for value in X:
        if isinstance(value, list):
            if len(value) != 1:
                raise UsageError(f"X has {len(value)} columns: give one, the ids of nodes. Ids that are tuples go in a list, not in an array")
            value = value[0]
        found.append(plain(value))
    return found


def write_table(file: str, columns: Dict[str, Sequence[Any]]) -> None:
    """Write columns as CSV. Texts are quoted, so that none is taken for a comment."""
    with open(file, "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        out.writerow(columns)
        out.writerows(zip(*columns.values()))
