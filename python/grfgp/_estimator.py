"""What regressors and classifiers have in common."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from typing import Any, Dict, Hashable, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _binary
from ._base import BaseEstimator, not_fitted
from ._ids import nodes_of, text_of, write_table
from .errors import BadData, UsageError
from .graph import Graph
from .tables import Array, Table, of_rows


class GraphEstimator(BaseEstimator):
    """Runs the program on a graph and on the values of some of its nodes."""

    # Set by subclasses: the flag of the file of values, and the parameters that are flags
    # of the model.
    _values_flag: str
    _model_flags: Tuple[str, ...]

    graph: Any
    verbose: bool

    # What every fit learns.
    graph_: Graph
    predictions_: Table
    answer_: Dict[str, Any]
    n_features_in_: int
    _training: Dict[str, Sequence[Any]]
    _kept: bytes

    def _columns(self) -> Dict[str, Sequence[Any]]:
        """Return the table of values that the model was fitted to."""
        if not hasattr(self, "_training"):
            raise not_fitted(self)
        return self._training

    def _fit(self, X: Any, columns: Dict[str, Sequence[Any]], command: List[str], keep: Optional[str] = None) -> None:
        """Run a command that fits, and keep its answer and the file that it leaves."""
        graph = Graph.of(self.graph)
        table: Dict[str, Sequence[Any]] = {"node": self._texts(graph, X), **columns}
        answer, kept = self._run(command, graph, table, keep)
        rows = answer.pop("nodes")
        names = graph.learn_ids(row["node"] for row in rows)
        self.graph_, self.answer_, self.n_features_in_ = graph, answer, 1
        self.predictions_ = of_rows(rows, names)
        self._number = names.number if self.predictions_.node == names.values else {v: k for k, v in enumerate(self.predictions_.node)}
        self._training, self._kept = table, kept

    def _texts(self, graph: Graph, X: Any) -> List[str]:
        nodes = nodes_of(X)
        if graph.file is not None or graph.nodes_file is not None:
            return [text_of(v) for v in nodes]  # the program knows which there are
        texts = graph.names.texts
        return [texts[k] for k in graph.names.numbers(nodes)]

    def _run(self, command: List[str], graph: Graph, table: Optional[Mapping[str, Sequence[Any]]], keep: Optional[str] = None, files: Mapping[str, Mapping[str, Sequence[Any]]] = {}, model: Optional[bytes] = None) -> Tuple[Dict[str, Any], bytes]:
        """Run the program in a folder of its own; return its answer, and a file that it wrote."""
        with tempfile.TemporaryDirectory(prefix="grfgp-") as folder:
            args = [*command, *graph.write(folder), "--json"]
            if table is not None:
                write_table(os.path.join(folder, "values.csv"), dict(table))
                kind = self._values_flag[2:]
                args += [self._values_flag, "values.csv", "--header", kind + "=yes", "--delimiter", kind + "=comma", "--decimal", kind + "=point", "--on-bad-row", "fail"]
                args += self._flags(table)
            for flag, columns in files.items():
                write_table(os.path.join(folder, flag[2:] + ".csv"), dict(columns))
                args += [flag, flag[2:] + ".csv"]
            if model is not None:
                with open(os.path.join(folder, "model.grfgp"), "wb") as f:
                    f.write(model)
                args += ["--model", "model.grfgp"]
            answer = os.path.join(folder, "answer.json")
            _binary.run(args, folder, answer, verbose=self.verbose)
            with open(answer, encoding="utf-8") as text:
                result = json.load(text)
            kept = b""
            if keep is not None:
                with open(os.path.join(folder, keep), "rb") as f:
                    kept = f.read()
            return result, kept

    def _flags(self, table: Mapping[str, Sequence[Any]]) -> List[str]:
        """Return the flags of the parameters that are not None, for a table of values."""
        flags: List[str] = []
        for name in self._model_flags:
            value = getattr(self, name)
            if value is None:
                continue
            if isinstance(value, str):
                text = value
            elif isinstance(value, Iterable):
                text = _list(value)
            else:
                text = _number(name, value)
            flags += ["--" + name.replace("_", "-"), text]
        return flags

    def _places(self, X: Any) -> Array:
        """Return the rows of predictions that belong to X; of all nodes if it is None."""
        if not hasattr(self, "predictions_"):
            raise not_fitted(self)
        if X is None:
            return np.arange(len(self.predictions_))
        nodes = nodes_of(X)
        if self.graph_.file is not None or self.graph_.nodes_file is not None:
            nodes = [str(v) for v in nodes]
        places = [self._number.get(v) for v in nodes]
        if None in places:
            self.graph_.names.numbers(nodes)  # raises, and says which
        return np.array(places, dtype=np.intp)

    def _fitted_graph(self) -> Graph:
        if not hasattr(self, "graph_"):
            raise not_fitted(self)
        return self.graph_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "predictions_")

    def suggest(
        self,
        n: int = 5,
        goal: str = "learn",
        *,
        allowed: Optional[Iterable[Hashable]] = None,
        exclude: Optional[Iterable[Hashable]] = None,
        pending: Optional[Iterable[Hashable]] = None,
        budget: Optional[float] = None,
        policy: Optional[str] = None,
    ) -> Table:
        """Suggest nodes to measure next, each with the reason.

        Parameters
        ----------
        n : int
            Number of nodes. They are picked together: none repeats what another tells.
        goal : {"learn", "maximize", "minimize", "threshold=V"}
            ``learn`` reduces the uncertainty about all nodes, ``threshold=50`` finds the nodes
            above 50. Classifiers have the goal ``learn``.
        allowed, exclude, pending : nodes, optional
            Nodes that may be suggested, nodes that may not, and nodes that are being measured.
        budget : float, optional
            Largest sum of the costs of suggested and pending nodes; costs are the column
            ``cost`` of the node table, or 1.
        policy : str, optional
            Acquisition policy, such as ``thompson`` or ``ei``.

        The model is fitted again, to the data of :meth:`fit`, as suggestions need it.
        :class:`grfgp.Study` keeps it between suggestions.
        """
        table = self._columns()
        files = {}
        for flag, nodes in (("--allowed", allowed), ("--exclude", exclude), ("--pending", pending)):
            if nodes is not None:
                files[flag] = {"node": self._texts(self.graph_, list(nodes))}
        command = ["suggest", "--goal", goal, "-n", str(int(n))]
        if budget is not None:
            command += ["--budget", repr(float(budget))]
        if policy is not None:
            command += ["--policy", policy]
        without_sd = {name: column for name, column in table.items() if name != "sd"}
        answer, _ = self._run(command, self.graph_, without_sd, files={k: v for k, v in files.items() if v["node"]})
        return of_rows(answer["suggestions"], self.graph_.names)

    def validate(self, folds: int = 10, leave_out: str = "scattered") -> Dict[str, Any]:
        """Cross-validate the model on the data of :meth:`fit`, in the program.

        Returns the answer that docs/json.md describes: errors beside those of simple rules,
        the coverage of intervals or the calibration of probabilities, and a verdict in words.
        ``leave_out="neighbourhoods"`` holds out whole neighbourhoods, and so tells the error
        far from all data.
        """
        answer, _ = self._run(["validate", "--folds", str(int(folds)), "--leave-out", leave_out], self._fitted_graph(), self._columns())
        return answer

    def report(self, path: Union[str, "os.PathLike[str]"], *, title: Optional[str] = None, unit: Optional[str] = None, folds: int = 10) -> str:
        """Write a report, one HTML file that opens offline, and return its path.

        It has maps, the most uncertain nodes and a cross-validation in ``folds`` folds (0:
        none). The model is fitted again, once and once per fold.
        """
        target = os.path.abspath(os.fspath(path))
        if not os.path.isdir(os.path.dirname(target)):
            raise UsageError(f"there is no folder {os.path.dirname(target)}; make it first")
        command = ["report", "-o", "report.html", "--folds", str(int(folds))]
        for flag, text in (("--title", title or type(self).__name__), ("--unit", unit)):
            if text is not None:
                command += [flag, text]
        _, page = self._run(command, self._fitted_graph(), self._columns(), keep="report.html")
        unfinished = target + ".unfinished"
        with open(unfinished, "wb") as f:
            f.write(page)
        os.replace(unfinished, target)
        return target

    # Notebooks. scikit-learn shows a diagram of an estimator, which has one box here.

    def _map(self) -> str:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        from . import _map

        if not hasattr(self, "predictions_"):
            return f"<pre>{_map.escape(repr(self))}</pre>"
        return self._map()

    def _repr_mimebundle_(self, **kwargs: Any) -> Dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _number(name: str, value: Any) -> str:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise UsageError(f"{name}={value!r}: give a number")
    if value != value or value in (float("inf"), float("-inf")):
        raise UsageError(f"{name}={value!r}: give a finite number")
    return str(int(value)) if isinstance(value, (int, np.integer)) else repr(float(value))


def _list(values: Iterable[Any]) -> str:
    """Return a list as a flag takes it: one row of CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow([v if isinstance(v, str) else repr(float(v)) for v in values])
    return out.getvalue()


def column(name: str, values: Any, n: int) -> List[float]:
    """Return an argument of fit as n finite numbers."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as err:
        raise BadData(f"{name} has something that is no number: {err}") from None
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if numbers.ndim != 1:
        raise UsageError(f"{name} has the shape {numbers.shape}: give one number for each node of X")
    if len(numbers) != n:
        raise UsageError(f"{name} has {len(numbers)} numbers, and X has {n} nodes")
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        raise BadData(f"{name}[{bad[0]}] is {numbers[bad[0]]}: leave rows without a value out of X and {name}")
    result: List[float] = numbers.tolist()
    return result
