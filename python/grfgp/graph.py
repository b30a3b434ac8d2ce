"""The graph, from whatever Python has it in."""

from __future__ import annotations

import os
import warnings
from typing import Any, Dict, Hashable, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._ids import Names, plain, write_table
from .errors import BadData, GrfgpWarning, UsageError

_ends = [("source", "target"), ("from", "to"), ("src", "dst"), ("u", "v")]


class Graph:
    """A graph with the table of its nodes, ready for many models.

    ``edges`` is one of

    - a networkx graph; its node attributes become the node table, ``pos`` the coordinates;
    - a square scipy.sparse matrix or numpy array of weights; nodes are 0 to n − 1;
    - a DataFrame of edges, or a list of pairs or triples ``(source, target, weight)``;
    - the path of a file that the program reads; ids are then texts.

    Graphs are undirected: the direction of edges is dropped, with a warning. An edge that is
    given twice counts once; weights of such edges are added. Edges from a node to itself are
    left out.

    Parameters
    ----------
    edges : see above, or None together with ``knn``
    nodes : DataFrame or mapping of columns, or path, optional
        The node table: ids in a column ``node`` or ``id``, or in the index of a DataFrame.
        The columns ``label``, ``lat``, ``lon``, ``x``, ``y``, ``cost``, ``allowed`` and
        ``group`` have a meaning, all others can be covariates. Nodes without an edge are
        nodes as well.
    weight : str, optional
        Attribute or column with the numbers of edges; ``weight`` if there is one.
    weights : {"similarity", "distance", "ignore"}, optional
        What these numbers mean. A larger similarity makes two nodes more alike, a larger
        distance less. Numbers called ``weight`` are similarities unless this says otherwise.
    knn : int, optional
        Connect each node of ``nodes`` with its nearest ones, by lat and lon or x and y.

    Examples
    --------
    >>> roads = Graph([("a", "b"), ("b", "c", 2.0)])
    >>> len(roads), roads.ids
    (3, ['a', 'b', 'c'])
    """

    def __init__(self, edges: Any = None, *, nodes: Any = None, weight: Optional[str] = None, weights: Optional[str] = None, knn: Optional[int] = None):
        if weights not in (None, "similarity", "distance", "ignore"):
            raise UsageError(f"weights={weights!r}: give 'similarity', 'distance' or 'ignore'")
        if (edges is None) != (knn is not None):
            raise UsageError("give either edges, or knn=K together with a node table that has coordinates")
        self.file: Optional[str] = None
        self.nodes_file: Optional[str] = None
        self.knn = knn
        self.weights = weights
        self.columns: Dict[str, Sequence[Any]] = {}
        self._weight_name = weight or "weight"
        self._ends: Tuple[List[Any], List[Any]] = ([], [])
        self._numbers: Optional[List[float]] = None
        self._names: Optional[Names] = None
        self._table: List[Hashable] = []
        self._drawing: Any = None

        table: Optional[List[Hashable]] = None
        if isinstance(edges, (str, os.PathLike)):
            self.file = os.path.abspath(os.fspath(edges))
            if weight is not None:
                raise UsageError("weight names a column of a table in memory; of a file the program finds the columns itself")
        elif edges is not None:
            table = self._read_edges(edges, weight)
        if isinstance(nodes, (str, os.PathLike)):
            self.nodes_file = os.path.abspath(os.fspath(nodes))
            if self.file is None and knn is None:
                raise UsageError("nodes is a file, and edges are not: read the file into a DataFrame first")
        elif nodes is not None:
            table = self._read_nodes(nodes)
        if "node" in self.columns:
            raise UsageError("the nodes have an attribute node beside their ids; rename it")
        self._table = table or []
        if self.file is None and self.nodes_file is None:
            seen = dict.fromkeys(table or [])
            for end in self._ends:
                seen.update(dict.fromkeys(end))
            self._names = Names(seen)
            if not len(self._names):
                raise BadData("the graph has no nodes")
            if table is not None:
                self._complete(table)

    @classmethod
    def of(cls, graph: Any) -> "Graph":
        """Return the graph itself if it is a Graph, otherwise ``Graph(graph)``."""
        return graph if isinstance(graph, Graph) else cls(graph)

    # An estimator is cloned with its parameters; a Graph does not change, so that all
    # clones share it.
    def __copy__(self) -> "Graph":
        return self

    def __deepcopy__(self, memo: Any) -> "Graph":
        return self

    def __len__(self) -> int:
        return len(self.names)

    @property
    def ids(self) -> List[Hashable]:
        """Ids of the nodes, in the order of predictions."""
        return list(self.names.values)

    @property
    def names(self) -> Names:
        if self._names is None:
            raise UsageError("the nodes of a graph in a file are known after a first fit")
        return self._names

    def learn_ids(self, texts: Iterable[str]) -> Names:
        """Return the ids, which are those of the program's answer if the graph is a file."""
        if self._names is None:
            self._names = Names(texts)
        return self._names

    def __repr__(self) -> str:
        if self.file or self.nodes_file:
            return f"<grfgp.Graph {self.file or self.nodes_file}>"
        if self.knn is not None:
            return f"<grfgp.Graph of {len(self)} nodes, each connected with its {self.knn} nearest>"
        return f"<grfgp.Graph of {len(self)} nodes, {len(self._ends[0])} edges>"

    # Reading.

    def _read_edges(self, edges: Any, weight: Optional[str]) -> Optional[List[Hashable]]:
        if hasattr(edges, "is_directed") and hasattr(edges, "adjacency"):
            return self._read_networkx(edges, weight)
        if hasattr(edges, "tocoo") or isinstance(edges, np.ndarray) and edges.ndim == 2 and edges.shape[0] == edges.shape[1]:
            return self._read_matrix(edges)
        if hasattr(edges, "columns"):
            self._read_frame(edges, weight)
        else:
            self._read_pairs(edges)
        return None

    def _read_networkx(self, g: Any, weight: Optional[str]) -> List[Hashable]:
        self._directed(g.is_directed())
        name = self._weight_name
        rows = [(a, b, data.get(name)) for a, b, data in g.edges(data=True)]
        have = sum(w is not None for _, _, w in rows)
        if weight is not None and have < len(rows):
            raise BadData(f"{len(rows) - have} of {len(rows)} edges have no attribute {weight!r}")
        if 0 < have < len(rows) and self.weights != "ignore":
            raise BadData(f"{have} of {len(rows)} edges have the attribute weight and the others have none; give it to all, or pass weights='ignore'")
        self._set_edges([a for a, _, _ in rows], [b for _, b, _ in rows], [w for _, _, w in rows] if have == len(rows) and rows else None)
        ids = list(g.nodes)
        self.columns = _attributes(ids, dict(g.nodes(data=True)))
        return ids

    def _read_matrix(self, matrix: Any) -> List[Hashable]:
        if hasattr(matrix, "tocoo"):
            if matrix.shape[0] != matrix.shape[1]:
                raise BadData(f"the matrix has the shape {matrix.shape[0]} × {matrix.shape[1]}; a matrix of edges is square")
            m = matrix.tocoo()
            row, col, value = np.asarray(m.row), np.asarray(m.col), np.asarray(m.data)
        else:
            row, col = np.nonzero(matrix)
            value = matrix[row, col]
        if value.dtype.kind not in "biuf":
            raise BadData(f"the matrix has entries of type {value.dtype}; weights are numbers")
        n = int(matrix.shape[0])
        stored = (row != col) & (value != 0)
        row, col, value = row[stored].astype(np.int64), col[stored].astype(np.int64), value[stored].astype(float)
        # Entries of one pair are added; a symmetric matrix has each edge twice.
        pair, at = np.unique(np.minimum(row, col) * n + np.maximum(row, col), return_inverse=True)
        up = np.bincount(at, np.where(row < col, value, 0.0), len(pair))
        down = np.bincount(at, np.where(row > col, value, 0.0), len(pair))
        if np.array_equal(up, down):
            weight = up
        else:
            self._directed(bool(np.any((up != 0) & (down != 0))))
            weight = up + down
        self._set_edges((pair // n).tolist(), (pair % n).tolist(), None if bool(np.all(weight == 1)) else weight.tolist())
        return list(range(n))

    def _read_frame(self, frame: Any, weight: Optional[str]) -> None:
        columns = list(frame.columns)
        lower = {str(c).lower(): c for c in columns}
        ends = next(((lower[a], lower[b]) for a, b in _ends if a in lower and b in lower), None)
        if ends is None:
            if len(columns) != 2:
                raise UsageError(f"the edges have the columns {', '.join(map(str, columns))}: name the ends source and target")
            ends = (columns[0], columns[1])
        name = weight if weight is not None else lower.get("weight")
        if name is not None and name not in columns:
            raise UsageError(f"weight={weight!r}: the columns are {', '.join(map(str, columns))}")
        others = [str(c) for c in columns if c not in (*ends, name)]
        if name is None and self.weights in ("similarity", "distance"):
            raise UsageError(f"weights={self.weights!r}: say which column holds the numbers, as in weight={others[0] if others else 'weight'!r}")
        numbers = frame[name].tolist() if name is not None else None
        self._set_edges(frame[ends[0]].tolist(), frame[ends[1]].tolist(), numbers)

    def _read_pairs(self, edges: Any) -> None:
        rows = [tuple(e) for e in edges]
        sizes = {len(e) for e in rows}
        if not rows or not sizes <= {2, 3}:
            raise UsageError("edges are a networkx graph, a square matrix, a DataFrame, a path, or a list of (source, target) or (source, target, weight)")
        numbers = [float(e[2]) if len(e) == 3 else 1.0 for e in rows] if 3 in sizes else None
        self._set_edges([e[0] for e in rows], [e[1] for e in rows], numbers)

    def _set_edges(self, source: List[Any], target: List[Any], numbers: Optional[List[Any]]) -> None:
        source, target = [plain(v) for v in source], [plain(v) for v in target]
        keep = [k for k in range(len(source)) if source[k] != target[k]]
        self._ends = ([source[k] for k in keep], [target[k] for k in keep])
        if numbers is None or self.weights == "ignore":
            self._numbers = None
            return
        try:
            self._numbers = [float(numbers[k]) for k in keep]
        except (TypeError, ValueError) as err:
            raise BadData(f"a {self._weight_name} of the edges is no number: {err}") from None
        bad = next((k for k, w in enumerate(self._numbers) if not (0 <= w < float("inf"))), None)
        if bad is not None:
            raise BadData(f"the edge from {self._ends[0][bad]!r} to {self._ends[1][bad]!r} has the {self._weight_name} {self._numbers[bad]}: give a finite number, 0 or more")

    def _directed(self, is_directed: bool) -> None:
        if is_directed:
            warnings.warn("the directions of edges are not used: an edge from a to b connects both", GrfgpWarning, stacklevel=5)

    def _read_nodes(self, nodes: Any) -> List[Hashable]:
        if hasattr(nodes, "columns"):
            lower = {str(c).lower(): c for c in nodes.columns}
            key = lower.get("node", lower.get("id"))
            given = (nodes[key] if key is not None else nodes.index).tolist()
            columns = {str(c): nodes[c].tolist() for c in nodes.columns if c != key}
        elif isinstance(nodes, Mapping):
            key = next((k for k in ("node", "id") if k in nodes), None)
            if key is None:
                raise UsageError("nodes is a mapping of columns: name the ids node")
            given = list(nodes[key])
            columns = {str(c): list(v) for c, v in nodes.items() if c != key}
        else:
            raise UsageError("nodes is a DataFrame, a mapping of columns, or a path")
        ids: List[Hashable] = [plain(v) for v in given]
        for name, column in columns.items():
            if len(column) != len(ids):
                raise BadData(f"the column {name} of nodes has {len(column)} rows, and there are {len(ids)} ids")
        twice = [v for v, n in _counts(ids).items() if n > 1]
        if twice:
            raise BadData(f"the node table has {twice[0]!r} more than once")
        self.columns = columns
        return ids

    def _complete(self, table: List[Hashable]) -> None:
        """Give nodes that only edges name a row of the node table, without values."""
        more = len(self.names) - len(table)
        if more > 0:
            self.columns = {name: [*column, *[None] * more] for name, column in self.columns.items()}

    # Writing.

    def write(self, folder: str) -> List[str]:
        """Write the files of the graph into a folder; return the flags that name them."""
        flags: List[str] = []
        if self.file is not None:
            flags += ["--edges", self.file]
        elif self.knn is not None:
            flags += ["--knn", str(self.knn)]
        else:
            self._write_edges(os.path.join(folder, "edges.csv"))
            flags += ["--edges", "edges.csv", "--header", "edges=yes", "--delimiter", "edges=comma", "--decimal", "edges=point"]
        if self.meaning is not None:
            flags += ["--weights", self.meaning]
        if self.nodes_file is not None:
            flags += ["--nodes", self.nodes_file]
        elif self.file is None or self.columns:
            self._write_nodes(os.path.join(folder, "nodes.csv"))
            flags += ["--nodes", "nodes.csv", "--header", "nodes=yes", "--delimiter", "nodes=comma", "--decimal", "nodes=point", "--column", "id=node"]
        return flags

    def _write_edges(self, file: str) -> None:
        number, texts = self.names.number, self.names.texts
        columns: Dict[str, Sequence[Any]] = {
            "source": [texts[number[v]] for v in self._ends[0]],
            "target": [texts[number[v]] for v in self._ends[1]],
        }
        if self._numbers is not None:
            columns[self._weight_name] = self._numbers
        write_table(file, columns)

    def _write_nodes(self, file: str) -> None:
        cells = {str(name): [_cell(v) for v in column] for name, column in self.columns.items()}
        write_table(file, {"node": self._table_names().texts, **cells})

    def _table_names(self) -> Names:
        return Names(self._table) if self.file is not None else self.names

    def upload(self, folder: str) -> Dict[str, str]:
        """Return the files that a server reads the graph from; those in memory are written into a folder."""
        if self.knn is not None:
            raise UsageError("a study needs edges: the server does not connect nearest neighbours")
        files = {}
        if self.nodes_file is not None:
            files["nodes"] = self.nodes_file
        elif self.file is None or self.columns:
            files["nodes"] = os.path.join(folder, "nodes.csv")
            self._write_nodes(files["nodes"])
        if self.file is not None:
            files["edges"] = self.file
        else:
            files["edges"] = os.path.join(folder, "edges.csv")
            self._write_edges(files["edges"])
        return files

    @property
    def meaning(self) -> Optional[str]:
        """What the numbers of the edges mean, as the program's ``--weights`` has it."""
        if self.file is not None:
            return self.weights
        if self._numbers is None:
            return None
        return self.weights or ("similarity" if self._weight_name == "weight" else None)


def _counts(values: Iterable[Hashable]) -> Dict[Hashable, int]:
    counts: Dict[Hashable, int] = {}
    for v in values:
        counts[v] = counts.get(v, 0) + 1
    return counts


def _cell(value: Any) -> Union[str, float, int]:
    value = plain(value)
    if value is None or isinstance(value, float) and value != value or str(value) in ("NaT", "<NA>"):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return value
    return str(value).replace("\n", " ").replace("\r", " ")


def _attributes(ids: Sequence[Hashable], data: Mapping[Any, Mapping[str, Any]]) -> Dict[str, Sequence[Any]]:
    """Return the attributes of networkx nodes as columns; pos becomes x and y."""
    made: Dict[str, List[Any]] = {}
    for k, node in enumerate(ids):
        for name, value in data[node].items():
            cells: Mapping[str, Any] = {str(name): value}
            if name == "pos" and len(value) == 2:
                cells = {"x": value[0], "y": value[1]}
            for column, cell in cells.items():
                cell = plain(cell)
                if isinstance(cell, (int, float, str, bool)):
                    made.setdefault(column, [None] * len(ids))[k] = cell
    return dict(made)
