"""Studies: which node next, asked and told on a server."""

from __future__ import annotations

import json
import math
import tempfile
from dataclasses import dataclass, field
from typing import Any, Dict, Hashable, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union
from urllib.parse import quote

import numpy as np

from ._http import Connection, form, new_key
from ._ids import Names, plain, text_of
from .errors import BadData, UsageError
from .graph import Graph
from .tables import Array, Table, of_rows


@dataclass(frozen=True)
class Trial:
    """A node that is reserved for a measurement.

    ``context`` has all that the server says of it: label, lat, lon, the range of values that
    the model expects, the nearest measured node, and so on.
    """

    number: int
    node: Hashable
    why: str = ""
    cost: float = 1.0
    mean: Optional[float] = None
    sd: Optional[float] = None
    state: str = "pending"
    context: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


class Trials(List[Trial]):
    """The answer to an ask. ``short`` says why there are fewer trials than asked for, or is ""."""

    short: str = ""


class Study:
    """A study on a server: a graph, a goal and all measurements.

    Several people and programs may share a study. :meth:`ask` reserves nodes for one of
    them, :meth:`tell` takes the value of a trial. What was told is on the server's disk when
    the call returns; calls whose answer is lost on the way are repeated, and take effect once.

    Parameters
    ----------
    url : str
        Address of the server, such as ``http://127.0.0.1:8080`` or ``unix:/run/grfgp.sock``.
    name : str
        Name of the study. :meth:`create` makes a new one.
    token : str, optional
        Token for the server.
    graph : optional
        The graph of the study, if nodes are to be its ids and not texts.
    by : str
        Who asks and tells, for the log; a token has a name of its own.

    Examples
    --------
    >>> from grfgp import serve
    >>> with serve() as server:
    ...     study = server.create("peak", [(i, i + 1) for i in range(9)], goal="maximize", budget=3)
    ...     for _ in range(3):
    ...         trial, = study.ask()
    ...         told = study.tell(trial, float(trial.node))
    ...     study.ask().short
    'budget_reached'
    """

    def __init__(self, url: Union[str, Connection], name: str, *, token: Optional[str] = None, graph: Any = None, by: str = ""):
        self._http = url if isinstance(url, Connection) else Connection(url, token)
        self.name, self.by = name, by
        self._path = "/v1/studies/" + quote(name, safe="")
        self._names: Optional[Names] = None
        if graph is not None:
            graph = Graph.of(graph)
            if graph.file is None and graph.nodes_file is None:
                self._names = graph.names
        self.settings: Dict[str, Any] = self.show()["settings"]

    @classmethod
    def create(
        cls,
        url: Union[str, Connection],
        name: str,
        graph: Any,
        *,
        goal: str = "learn",
        budget: Optional[float] = None,
        token: Optional[str] = None,
        by: str = "",
        **settings: Any,
    ) -> "Study":
        """Create a study on a graph. The same study with the same settings is opened.

        ``settings`` are those of the API: ``policy``, ``seed``, ``unit``, ``lease``, ``spec``,
        ``classes``, ``covariates``, ``allowed``, ``cost``, ``group`` and so on. Nodes in them
        are ids of the graph.
        """
        http = url if isinstance(url, Connection) else Connection(url, token)
        graph = Graph.of(graph)
        names = graph.names if graph.file is None and graph.nodes_file is None else None
        body: Dict[str, Any] = {"name": name, "graph": store_graph(http, graph), "goal": goal, **settings}
        if budget is not None:
            body["budget"] = float(budget)
        if "allowed" in body:
            body["allowed"] = [_text(names, v) for v in body["allowed"]]
        for key in ("cost", "group"):
            if key in body:
                body[key] = {_text(names, node): plain(v) for node, v in body[key].items()}
        http.call("POST", "/v1/studies", body, query={"by": by} if by else None)
        return cls(http, name, graph=graph, by=by)

    def __repr__(self) -> str:
        return f"<grfgp.Study {self.name} at {self._http.url}>"

    def show(self) -> Dict[str, Any]:
        """Return the state of the study: status, numbers of trials, budget, best value."""
        answer: Dict[str, Any] = self._http.call("GET", self._path)
        return answer

    # Asking and telling.

    def ask(self, n: int = 1, *, nodes: Optional[Iterable[Hashable]] = None, lease: Optional[str] = None, key: Optional[str] = None) -> Trials:
        """Reserve nodes to measure, and return them as trials.

        Fewer than ``n`` come if the budget is spent, or no node is left; ``short`` of the
        answer says why. ``nodes`` names nodes of one's own choice. The same ``key`` gets the
        same answer. ``lease``, such as ``"90m"``, is how long nodes stay reserved.
        """
        body: Dict[str, Any] = {"count": int(n), "holder": self.by}
        if nodes is not None:
            chosen = [self._text(v) for v in nodes]
            body.update(nodes=chosen, count=len(chosen))
        if lease is not None:
            body["lease"] = lease
        answer = self._http.call("POST", self._path + "/asks", body, key=key or new_key())
        found = Trials(self._trial(t) for t in answer["trials"])
        found.short = answer.get("short", "")
        return found

    def tell(self, trial: Union[Trial, int], value: Any, *, exposure: Optional[float] = None, note: str = "") -> Trial:
        """Tell the result of a trial: a number, or the class in a study of classes.

        ``None`` or NaN says that the measurement failed; its node may be suggested again.
        The same result again has no effect, and another one is a :class:`grfgp.Conflict`.
        """
        body: Dict[str, Any] = {"by": self.by, "note": note, **_result(value)}
        if exposure is not None:
            body["exposure"] = float(exposure)
        return self._trial(self._http.call("PUT", f"{self._path}/trials/{_number(trial)}/result", body))

    def observe(self, nodes: Any, values: Any = None, *, exposure: Optional[Sequence[float]] = None, note: str = "", key: Optional[str] = None) -> List[Dict[str, Any]]:
        """Add measurements that belong to no trial, all or none.

        Give nodes and values, or a mapping of nodes to values.
        """
        if values is None:
            nodes, values = list(nodes), list(nodes.values())
        nodes, values = list(nodes), list(values)
        if len(nodes) != len(values):
            raise UsageError(f"there are {len(nodes)} nodes and {len(values)} values")
        rows = []
        for k, (node, value) in enumerate(zip(nodes, values)):
            row: Dict[str, Any] = {"node": self._text(node), **_result(value)}
            if "failed" in row:
                raise BadData(f"the value of node {node!r} is missing")
            if exposure is not None:
                row["exposure"] = float(exposure[k])
            rows.append(row)
        body: Dict[str, Any] = {"observations": rows, "by": self.by}
        if note:
            body["note"] = note
        found: List[Dict[str, Any]] = self._http.call("POST", self._path + "/observations", body, key=key or new_key())["observations"]
        return [{**o, "node": self._node(o["node"])} for o in found]

    def release(self, trial: Union[Trial, int]) -> Trial:
        """End a trial that will not be measured now; its node may be suggested again."""
        return self._end(trial, "release")

    def abandon(self, trial: Union[Trial, int], note: str = "") -> Trial:
        """End a trial whose node can never be measured; it is never suggested again."""
        return self._end(trial, "abandon", note)

    def reopen(self, trial: Union[Trial, int], note: str = "") -> Trial:
        """Take back how a trial ended: it is pending again, and a value it had is retracted."""
        return self._end(trial, "reopen", note)

    def retract(self, observation: int, note: str = "") -> None:
        """Withdraw a measurement, by its number among :meth:`observations`."""
        self._http.call("DELETE", f"{self._path}/observations/{int(observation)}", query={"note": note, "by": self.by})

    def pause(self, note: str = "") -> None:
        """Stop suggestions until :meth:`resume`."""
        self._http.call("POST", self._path + "/pause", {"note": note, "by": self.by})

    def resume(self) -> None:
        """Go on after :meth:`pause`."""
        self._http.call("POST", self._path + "/resume", {"by": self.by})

    # Looking.

    def suggestions(self, n: int = 5) -> Table:
        """Return what would be suggested next; nothing is reserved."""
        rows = self._http.call("GET", self._path + "/candidates", query={"count": int(n)})["candidates"]
        shown = [{k: v for k, v in _flat(r).items() if k not in ("rule", "lower999", "upper999")} for r in rows]
        return of_rows([{**{k: v for k, v in r.items() if k != "why"}, "why": r.get("why", "")} for r in shown], self._names)

    def predictions(self) -> Table:
        """Return the predictions of all nodes: mean, sd, lower, upper; classes have probabilities."""
        return of_rows([_flat(r) for r in self._pages("predictions", "nodes")], self._names)

    def trials(self, state: Optional[str] = None) -> List[Trial]:
        """Return all trials, or those of a state: pending, done, failed, abandoned, expired, released."""
        return [self._trial(t) for t in self._pages("trials", "trials", {"state": state} if state else {})]

    def observations(self) -> Table:
        """Return all measurements, in the order in which they were told."""
        return of_rows(list(self._pages("observations", "observations")), self._names, ("observation", "value"))

    def calibration(self) -> Dict[str, Any]:
        """Return a cross-validation of the model: can its predictions be trusted?"""
        answer: Dict[str, Any] = self._http.call("GET", self._path + "/calibration")
        return answer

    def _pages(self, name: str, rows: str, query: Mapping[str, Any] = {}) -> Iterator[Dict[str, Any]]:
        page = self._http.call("GET", f"{self._path}/{name}", query=query)
        while True:
            yield from page.get(rows) or ()
            if not page.get("next"):
                return
            page = self._http.call("GET", f"{self._path}/{name}", query={**query, "after": page["next"]})

    def _end(self, trial: Union[Trial, int], how: str, note: str = "") -> Trial:
        return self._trial(self._http.call("POST", f"{self._path}/trials/{_number(trial)}/{how}", {"note": note, "by": self.by}))

    def _text(self, node: Hashable) -> str:
        return _text(self._names, node)

    def _node(self, text: str) -> Hashable:
        return self._names.of_text(text) if self._names is not None else text

    def _trial(self, t: Mapping[str, Any]) -> Trial:
        return Trial(t["trial"], self._node(t["node"]), t.get("why", ""), t.get("cost", 1.0), t.get("mean"), t.get("sd"), t.get("state", "pending"), dict(t))

    def _repr_html_(self) -> str:
        from . import _map

        return _map.study(self)


def _text(names: Optional[Names], node: Hashable) -> str:
    if names is None:
        return text_of(plain(node))
    return names.texts[names.numbers([node])[0]]


def _number(trial: Union[Trial, int]) -> int:
    return trial.number if isinstance(trial, Trial) else int(trial)


def _result(value: Any) -> Dict[str, Any]:
    """Return a result as the API has it.

    >>> _result(3), _result("oak"), _result(float("nan"))
    ({'value': 3.0}, {'class': 'oak'}, {'failed': True})
    """
    value = plain(value)
    if isinstance(value, str):
        return {"class": value}
    if value is None:
        return {"failed": True}
    number = float(value)
    if math.isinf(number):
        raise BadData(f"{number} is no measurement; tell None if it failed")
    return {"failed": True} if math.isnan(number) else {"value": number}


def _flat(row: Dict[str, Any]) -> Dict[str, Any]:
    """Return a row of the API as a row of a table: without numbers of the server, and flat."""
    near = row.get("nearest")
    flat = {k: v for k, v in row.items() if k not in ("number", "nearest", "probabilities")}
    if isinstance(near, Mapping) and "node" in near:
        flat["nearest"] = near["node"]
    return flat


def store_graph(http: Connection, graph: Graph) -> str:
    """Store a graph on a server, and return its id there."""
    with tempfile.TemporaryDirectory(prefix="grfgp-") as folder:
        files = graph.upload(folder)
        body, kind = form(files)
    query: Dict[str, Any] = {}
    if graph.meaning is not None:
        query["weights"] = graph.meaning
    if graph.file is None:
        query.update(header="yes", column="id=node")
    answer: Dict[str, Any] = http.call("POST", "/v1/graphs", raw=body, headers={"Content-Type": kind}, query=query)
    return str(answer["id"])


def drawing(http: Connection, graph_id: str) -> Tuple[Array, Array, Dict[str, Any]]:
    """Return the positions of a graph's nodes on a map, NaN where there is none, its edges, and the head of the positions."""
    head, columns = _columns(http.fetch("GET", f"/v1/graphs/{graph_id}/places"))
    x0, y0, wide, high = head["frame"]
    x, y = columns["x"].astype(float), columns["y"].astype(float)
    none = (x >= head["top"]) | (y >= head["top"])
    at = np.column_stack([x0 + x * wide / head["top"], y0 + y * high / head["top"]])
    at[none] = np.nan
    _, ends = _columns(http.fetch("GET", f"/v1/graphs/{graph_id}/edges"))
    return at, np.column_stack([ends["from"], ends["to"]]).astype(int), head


def _columns(data: bytes) -> Tuple[Dict[str, Any], Dict[str, Array]]:
    """Read a table in binary columns (application/vnd.grfgp.columns)."""
    if data[:8] != b"GRFGPCO1":
        raise BadData("the server's answer is no table in columns")
    size = int.from_bytes(data[8:12], "little")
    head: Dict[str, Any] = json.loads(data[12 : 12 + size])
    columns = {}
    for c in head["columns"]:
        kind = np.dtype(c["type"]).newbyteorder("<")
        columns[c["name"]] = np.frombuffer(data, kind, c["rows"], 12 + size + c["offset"])
    return head, columns
