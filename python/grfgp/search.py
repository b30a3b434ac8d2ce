"""Search for the best node of a function that is costly to evaluate."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any, Callable, Hashable, List, Mapping, Optional, Union

from .errors import NoModel, NothingLeft, UsageError
from .server import serve
from .study import Study
from .tables import Table


@dataclass
class Found:
    """The result of a search.

    ``node`` and ``value`` are the best ones measured; ``nodes`` and ``values`` are all, in
    order. ``failed`` are nodes whose measurement failed. ``predictions`` has what the model
    says of all nodes at the end, None if there are too few values for a model.
    """

    node: Hashable
    value: float
    nodes: List[Hashable]
    values: List[float]
    failed: List[Hashable] = field(default_factory=list)
    predictions: Optional[Table] = field(default=None, repr=False)


def maximize(
    graph: Any,
    function: Callable[[Any], float],
    budget: int,
    *,
    known: Optional[Mapping[Hashable, float]] = None,
    store: Union[None, str, "os.PathLike[str]"] = None,
    name: str = "search",
    seed: int = 1,
    **settings: Any,
) -> Found:
    """Search for the node at which a function is largest.

    The function is called for one node after another, at most ``budget`` times. Each node is
    chosen by a Gaussian process on the graph, from all values so far. Raising an exception
    ends the search; returning None or NaN says that a measurement failed.

    Parameters
    ----------
    graph : Graph or what :class:`grfgp.Graph` takes
    function : callable
        Takes the id of a node, returns a number.
    budget : int
        Largest number of calls.
    known : mapping of nodes to values, optional
        Values that are known already.
    store : path, optional
        File that keeps every value as soon as it is known. If the program is interrupted,
        the same call goes on where it was.
    seed, settings
        Settings of the study, see :meth:`grfgp.Study.create`.

    Examples
    --------
    >>> path = [(i, i + 1) for i in range(30)]
    >>> found = maximize(path, lambda i: -abs(i - 21), budget=15)
    >>> len(found.values) <= 15 and abs(found.node - 21) <= 5
    True
    """
    return _search(graph, function, budget, "maximize", known, store, name, seed, settings)


def minimize(
    graph: Any,
    function: Callable[[Any], float],
    budget: int,
    *,
    known: Optional[Mapping[Hashable, float]] = None,
    store: Union[None, str, "os.PathLike[str]"] = None,
    name: str = "search",
    seed: int = 1,
    **settings: Any,
) -> Found:
    """Search for the node at which a function is smallest; as :func:`maximize`."""
    return _search(graph, function, budget, "minimize", known, store, name, seed, settings)


def _search(graph: Any, function: Callable[[Any], float], budget: int, goal: str, known: Optional[Mapping[Hashable, float]], store: Any, name: str, seed: int, settings: Mapping[str, Any]) -> Found:
    if not budget >= 1:
        raise UsageError(f"budget={budget!r}: give 1 or more")
    with serve(store) as server:
        study = server.create(name, graph, goal=goal, budget=budget, seed=seed, **settings)
        if known and not len(study.observations()):
            study.observe(known, key="known")
        for trial in study.trials("pending"):  # of a search that was interrupted
            study.release(trial)
        calls = len(study.trials("failed"))
        while True:
            trials = study.ask()
            if not trials:
                break
            trial = trials[0]
            try:
                value = function(trial.node)
            except BaseException:
                study.release(trial)
                raise
            study.tell(trial, value)
            if value is None or math.isnan(value):
                calls += 1
                if calls + len(study.trials("done")) >= budget:
                    break
        return _found(study, goal)


def _found(study: Study, goal: str) -> Found:
    table = study.observations()
    if not len(table):
        raise NothingLeft("no node could be measured")
    values: List[float] = table["value"].tolist()
    best = values.index(max(values) if goal == "maximize" else min(values))
    failed = [t.node for t in study.trials("failed")]
    try:
        predictions = study.predictions()
    except NoModel:
        predictions = None
    return Found(table.node[best], values[best], table.node, values, failed, predictions)
