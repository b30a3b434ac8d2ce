"""Regression on the nodes of a graph."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._base import RegressorMixin, not_fitted
from ._estimator import GraphEstimator, column
from ._ids import nodes_of
from .errors import UsageError
from .tables import Array, Table, of_rows


class GraphRegressor(RegressorMixin, GraphEstimator):
    """A Gaussian process on the nodes of a graph, as an estimator of scikit-learn.

    ``X`` is a list, an array or a Series of nodes, ``y`` one value for each. A node may be
    measured more than once. One fit runs the program once and predicts all nodes;
    ``predict`` looks them up and learns nothing.

    Parameters
    ----------
    graph : Graph, networkx graph, scipy.sparse matrix, DataFrame of edges, or path
        See :class:`grfgp.Graph`. Wrap it once, ``Graph(g)``, if many models use it: clones of
        the estimator then share it.
    family, method, scales, laplacian, variance, trend, nu, hops, walks, rank, solver
        The kernel and how it is computed; None lets the program choose, by likelihood and
        cost. ``family`` is one of diffusion, matern, and so on: docs/kernels.md.
    covariates : "all" or list of names, optional
        Columns of the node table that the model may use. They belong to the graph, because
        a prediction needs them at every node.
    values : {"gaussian", "student", "count", "share", "yes-no", "duration", "positive"}
        What ``y`` is: numbers with noise, numbers with gross errors, counts (with
        ``exposure`` in :meth:`fit`), positives among ``tested``, or 0 and 1. Predictions of
        the last three are rates and probabilities.
    transform : {"log", "log1p", "sqrt"}, optional
        Transform under which numbers are modelled.
    mean, noise_sd : float, optional
        What is known of the mean and of the noise of one measurement; learned otherwise.
    level : float
        Level of credible intervals.
    seed, threads, memory
        One seed gives the same numbers at any number of threads. ``memory``, such as
        ``"8GiB"``, is the most that a run may take.
    device : {"auto", "cpu", "gpu"}, optional
        Where to compute; None is auto: a graphics card if there is one. With gpu and without a
        card, :class:`grfgp.TooLarge` is raised. Needs a program that can use cards: docs/gpu.md.
    verbose : bool
        Write the program's progress and its choices to ``sys.stderr``.

    Attributes
    ----------
    predictions_ : Table
        All nodes with mean, sd, lower, upper, measured, value and n.
    noise_sd_ : float
        Standard deviation of the noise of one measurement.
    choice_ : dict
        The kernel that was chosen, and why.
    answer_ : dict
        All that the program says beside the predictions (docs/json.md).

    Examples
    --------
    >>> ring = [(i, (i + 1) % 40) for i in range(40)]
    >>> nodes = list(range(0, 40, 2))
    >>> height = [abs(20 - i) + 0.1 * (i % 3) for i in nodes]
    >>> model = GraphRegressor(ring, family="diffusion").fit(nodes, height)
    >>> mean, sd = model.predict([1, 21], return_std=True)
    >>> bool(abs(mean[0] - 19) < 1 and abs(mean[1] - 1) < 1 and 0 < sd[0] < 1)
    True
    """

    _values_flag = "--measurements"
    _model_flags = (
        "family", "method", "scales", "laplacian", "variance", "trend", "nu", "hops", "walks", "rank", "solver",
        "covariates", "roles", "values", "transform", "mean", "noise_sd", "seed", "threads", "memory", "device",
    )  # fmt: skip

    def __init__(
        self,
        graph: Any,
        *,
        family: Optional[str] = None,
        method: Optional[str] = None,
        scales: Optional[str] = None,
        laplacian: Optional[str] = None,
        variance: Optional[str] = None,
        trend: Optional[str] = None,
        nu: Optional[float] = None,
        hops: Optional[int] = None,
        walks: Optional[int] = None,
        rank: Optional[int] = None,
        solver: Optional[str] = None,
        covariates: Union[None, str, Sequence[str]] = None,
        roles: Optional[str] = None,
        values: str = "gaussian",
        transform: Optional[str] = None,
        mean: Optional[float] = None,
        noise_sd: Optional[float] = None,
        level: float = 0.95,
        seed: int = 1,
        threads: Optional[int] = None,
        memory: Optional[str] = None,
        device: Optional[str] = None,
        verbose: bool = False,
    ):
        self.graph = graph
        self.family = family
        self.method = method
        self.scales = scales
        self.laplacian = laplacian
        self.variance = variance
        self.trend = trend
        self.nu = nu
        self.hops = hops
        self.walks = walks
        self.rank = rank
        self.solver = solver
        self.covariates = covariates
        self.roles = roles
        self.values = values
        self.transform = transform
        self.mean = mean
        self.noise_sd = noise_sd
        self.level = level
        self.seed = seed
        self.threads = threads
        self.memory = memory
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, sd: Any = None, exposure: Any = None, tested: Any = None) -> "GraphRegressor":
        """Fit the model to the values ``y`` at the nodes ``X``.

        Parameters
        ----------
        X : nodes, a list, an array of shape (n,) or (n, 1), a Series, or a DataFrame with a column ``node``
        y : n numbers
        sd : n numbers, optional
            Standard deviation of the noise of each value, where it is known.
        sample_weight : n numbers, optional
            With ``noise_sd``: a value of weight w has the noise of a mean of w measurements.
        exposure : n numbers, optional
            Of counts: the numbers to expect, or the time or the people at risk.
        tested : n numbers
            Of shares: how many were tested, of whom ``y`` were positive.
        """
        n = len(nodes_of(X))
        columns: Dict[str, Sequence[Any]] = {"value": column("y", y, n)}
        if sample_weight is not None:
            if sd is not None or self.noise_sd is None:
                raise UsageError("sample_weight needs noise_sd, the noise of a value of weight 1, and no sd: weights alone do not tell how noisy values are")
            weight = np.asarray(column("sample_weight", sample_weight, n))
            if not (weight > 0).all():
                raise UsageError("sample_weight has a weight of 0 or less: leave these rows out")
            sd = self.noise_sd / np.sqrt(weight)
        for name, values, kind in (("sd", sd, None), ("exposure", exposure, "count"), ("tested", tested, "share")):
            if values is None:
                continue
            if kind is not None and self.values != kind:
                raise UsageError(f"{name} goes with values={kind!r}, not with values={self.values!r}")
            columns[name] = column(name, values, n)
        self._fit(X, columns, ["predict", "--save-model", "model.grfgp", "--level", repr(float(self.level))], keep="model.grfgp")
        self._tables = {float(self.level): self.predictions_}
        self.noise_sd_, self.choice_ = self.answer_["noise_sd"], self.answer_["choice"]
        return self

    def _flags(self, table: Mapping[str, Sequence[Any]]) -> List[str]:
        flags = super()._flags(table)
        for name in ("exposure", "tested"):
            if name in table:
                flags += ["--" + name, name]
        if "sd" in table and self.noise_sd is not None:
            k = flags.index("--noise-sd")
            del flags[k : k + 2]  # the column says it for every value
        return flags

    def predict(
        self, X: Any = None, return_std: bool = False, return_interval: Union[bool, float] = False, *, reading: bool = False
    ) -> Union[Array, Tuple[Array, ...]]:
        """Predict the values at nodes; at all nodes if ``X`` is None.

        Parameters
        ----------
        X : nodes, as in :meth:`fit`
        return_std : bool
            Return standard deviations, too.
        return_interval : bool or float
            Return the lower and the upper ends of credible intervals of this level (True:
            the level of the estimator), too.
        reading : bool
            Standard deviations and intervals of one new measurement, with its noise, instead
            of those of the quantity itself. Of counts and shares there are intervals, and the
            standard deviation may be NaN.

        Returns
        -------
        mean, or a tuple of mean, sd (with ``return_std``) and lower, upper (with
        ``return_interval``): arrays with a number for each node of ``X``.
        """
        places = self._places(X)
        level = self.level if return_interval in (True, False) else return_interval
        table = self._reading(float(level)) if reading else self._table(float(level))
        names = ["mean"] + ["sd"] * bool(return_std) + ["lower", "upper"] * (return_interval is not False)
        columns = tuple(table[name][places] for name in names)
        return columns if len(columns) > 1 else columns[0]

    def _table(self, level: float) -> Table:
        """Return the predictions of a level; new ones are made by the saved model."""
        if level not in self._tables:
            answer, _ = self._run(["predict", "--level", repr(level), *self._machine()], self.graph_, None, model=self._kept)
            self._tables[level] = of_rows(answer["nodes"], self.graph_.names)
        return self._tables[level]

    def _reading(self, level: float) -> Table:
        """Return the predictions of a new measurement."""
        table = self._table(level)
        sd = np.full(len(table), np.nan)  # of other values an interval says what a sd cannot
        if self.values == "gaussian" and self.transform is None:
            sd = np.hypot(table["sd"], self.noise_sd_)
        return Table(table.node, {"mean": table["mean"], "sd": sd, "lower": table["reading_lower"], "upper": table["reading_upper"]})

    def _machine(self) -> List[str]:
        flags = ["--seed", str(int(self.seed))]
        if self.threads is not None:
            flags += ["--threads", str(int(self.threads))]
        for flag, text in (("--memory", self.memory), ("--device", self.device)):
            if text is not None:
                flags += [flag, text]
        return flags

    def probability_above(self, X: Any, threshold: float) -> Array:
        """Return the probability that the quantity is above a threshold, at nodes."""
        places = self._places(X)
        answer, _ = self._run(["predict", "--above", repr(float(threshold)), *self._machine()], self.graph_, None, model=self._kept)
        return of_rows(answer["nodes"], self.graph_.names)["above"][places]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R², the share of the variance of ``y`` that predictions explain.

        Of counts and shares with exposures, ``y`` are the rates and probabilities.
        """
        nodes = nodes_of(X)
        truth = np.asarray(column("y", y, len(nodes)))
        weight = np.ones(len(nodes)) if sample_weight is None else np.asarray(column("sample_weight", sample_weight, len(nodes)))
        left = float(weight @ (truth - np.asarray(self.predict(X))) ** 2)
        total = float(weight @ (truth - np.average(truth, weights=weight)) ** 2)
        if total == 0:
            return 1.0 if left == 0 else 0.0
        return 1 - left / total

    def _map(self) -> str:
        from . import _map

        if not hasattr(self, "predictions_"):
            raise not_fitted(self)
        choice = self.choice_
        return _map.regression(self.graph_, self.predictions_, f"{type(self).__name__}: kernel {choice['family']}, method {choice['method']}, noise sd {self.noise_sd_:.3g}")
