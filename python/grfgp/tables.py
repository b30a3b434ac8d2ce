"""Answers of the program as tables: predictions and suggestions."""

from __future__ import annotations

import html
from typing import Any, Dict, Hashable, Iterator, List, Mapping, Optional, Sequence

import numpy as np
import numpy.typing as npt

from ._ids import Names

Array = npt.NDArray[Any]


class Table:
    """Columns of equal length. ``table["mean"]`` is a numpy array, ``table.node`` the ids.

    ``frame()`` returns a pandas DataFrame, indexed by node. In a notebook a table shows its
    first rows.
    """

    def __init__(self, node: Sequence[Hashable], columns: Mapping[str, Any]):
        self.node: List[Hashable] = list(node)
        self.columns: Dict[str, Array] = {name: np.asarray(values) for name, values in columns.items()}

    def __len__(self) -> int:
        return len(self.node)

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def frame(self) -> Any:
        """Return the table as a pandas DataFrame."""
        import pandas

        index = pandas.Index(self.node, name="node", tupleize_cols=False)
        return pandas.DataFrame(dict(self.columns), index=index)

    def rows(self) -> Iterator[Dict[str, Any]]:
        """Yield the rows as dictionaries, without missing values."""
        for k, node in enumerate(self.node):
            cells = {name: plain_cell(column[k]) for name, column in self.columns.items()}
            yield {"node": node, **{name: v for name, v in cells.items() if v is not None and v == v}}

    def __repr__(self) -> str:
        lines = ["  ".join(["node", *self.columns])]
        for k in range(min(len(self), 10)):
            lines.append("  ".join([str(self.node[k]), *(shown(column[k]) for column in self.columns.values())]))
        if len(self) > 10:
            lines.append(f"… {len(self)} rows")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self._table_html(10)

    def _table_html(self, most: int) -> str:
        cell = html.escape
        head = "".join(f"<th>{cell(name)}</th>" for name in ["node", *self.columns])
        body = ""
        for k in range(min(len(self), most)):
            cells = [str(self.node[k]), *(shown(column[k]) for column in self.columns.values())]
            body += "<tr>" + "".join(f"<td>{cell(text)}</td>" for text in cells) + "</tr>"
        rest = f"<p>{most} of {len(self):,} rows</p>" if len(self) > most else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def plain_cell(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def shown(value: Any) -> str:
    """Return a cell as people read it.

    >>> shown(1234.5678), shown(float("nan")), shown(True), shown("oak")
    ('1235', '', 'yes', 'oak')
    """
    value = plain_cell(value)
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def of_rows(rows: Sequence[Mapping[str, Any]], names: Optional[Names], first: Sequence[str] = ()) -> Table:
    """Return rows of the program's JSON as a table. Cells that a row lacks are missing.

    The columns of ``first`` are always there; further ones are those that the rows have.
    """
    keys = dict.fromkeys(first)
    for row in rows:
        keys.update(dict.fromkeys(row))
    keys.pop("node", None)
    columns = {}
    for key in keys:
        cells = [row.get(key) for row in rows]
        kinds = {type(c) for c in cells if c is not None}
        if kinds <= {int, float} and (kinds == {float} or None in cells or kinds == {int, float}):
            columns[key] = np.array([np.nan if c is None else float(c) for c in cells])
        elif None not in cells and len(kinds) == 1 and kinds <= {int, bool}:
            columns[key] = np.array(cells)
        else:
            columns[key] = np.empty(len(cells), object)
            columns[key][:] = cells
    texts = [row["node"] for row in rows]
    return Table([names.of_text(t) for t in texts] if names is not None else texts, columns)
