"""Classification of the nodes of a graph."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import numpy as np

from ._base import ClassifierMixin, not_fitted
from ._estimator import GraphEstimator, column
from ._ids import Names, nodes_of, plain
from .errors import UsageError
from .tables import Array


class GraphClassifier(ClassifierMixin, GraphEstimator):
    """Classes of the nodes of a graph, with calibrated probabilities, as an estimator of scikit-learn.

    ``X`` is a list, an array or a Series of nodes, ``y`` the class of each. One fit runs the
    program once and predicts all nodes.

    Parameters
    ----------
    graph, covariates, family, method, scales, laplacian, nu, hops, walks, rank, solver, seed, threads, memory, device, verbose
        As those of :class:`grfgp.GraphRegressor`.
    classifier : {"dirichlet", "one-vs-all", "variational", "robustmax", "spreading"}, optional
        See docs/classification.md; None is dirichlet.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    predictions_ : Table
        All nodes with their most probable class, its probability, and entropy in nats.

    Examples
    --------
    >>> two = [(a, b) for k in (0, 10) for a in range(k, k + 10) for b in range(k, a)] + [(0, 10)]
    >>> model = GraphClassifier(two).fit([1, 2, 3, 11, 12, 13], ["left"] * 3 + ["right"] * 3)
    >>> model.predict([5, 15]).tolist()
    ['left', 'right']
    >>> model.predict_proba([5]).shape
    (1, 2)
    """

    _values_flag = "--labels"
    _model_flags = (
        "classifier", "family", "method", "scales", "laplacian", "nu", "hops", "walks", "rank", "solver",
        "covariates", "roles", "seed", "threads", "memory", "device",
    )  # fmt: skip

    def __init__(
        self,
        graph: Any,
        *,
        classifier: Optional[str] = None,
        family: Optional[str] = None,
        method: Optional[str] = None,
        scales: Optional[str] = None,
        laplacian: Optional[str] = None,
        nu: Optional[float] = None,
        hops: Optional[int] = None,
        walks: Optional[int] = None,
        rank: Optional[int] = None,
        solver: Optional[str] = None,
        covariates: Union[None, str, Sequence[str]] = None,
        roles: Optional[str] = None,
        seed: int = 1,
        threads: Optional[int] = None,
        memory: Optional[str] = None,
        device: Optional[str] = None,
        verbose: bool = False,
    ):
        self.graph = graph
        self.classifier = classifier
        self.family = family
        self.method = method
        self.scales = scales
        self.laplacian = laplacian
        self.nu = nu
        self.hops = hops
        self.walks = walks
        self.rank = rank
        self.solver = solver
        self.covariates = covariates
        self.roles = roles
        self.seed = seed
        self.threads = threads
        self.memory = memory
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> "GraphClassifier":
        """Fit the classifier to the classes ``y`` of the nodes ``X``. Classes are texts, numbers or booleans."""
        n = len(nodes_of(X))
        labels = [plain(v) for v in (y.tolist() if hasattr(y, "tolist") else list(y))]
        if len(labels) != n:
            raise UsageError(f"y has {len(labels)} classes, and X has {n} nodes")
        names = Names(sorted(set(labels), key=lambda v: (str(type(v)), v)), "class")
        texts = [names.texts[names.number[v]] for v in labels]
        self._fit(X, {"class": texts}, ["classify"])
        self.classes_ = np.array(names.values)
        order = [[c["name"] for c in self.answer_["classes"]].index(text) for text in names.texts]
        self._probabilities = np.array(self.predictions_.columns.pop("probabilities").tolist())[:, order]
        best = self._probabilities.argmax(axis=1)
        self.predictions_.columns = {
            "class": self.classes_[best],
            "probability": self._probabilities.max(axis=1),
            **{name: c for name, c in self.predictions_.columns.items() if name != "class"},
        }
        return self

    def predict(self, X: Any = None) -> Array:
        """Return the most probable class of nodes; of all nodes if ``X`` is None."""
        best: Array = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return best

    def predict_proba(self, X: Any = None) -> Array:
        """Return the probabilities of all classes, in the order of ``classes_``.

        They are those of the model, also at nodes whose class was given.
        """
        return self._probabilities[self._places(X)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of nodes whose class is predicted right."""
        right = self.predict(X) == np.asarray([plain(v) for v in y])
        if sample_weight is None:
            return float(np.mean(right))
        return float(np.average(right, weights=column("sample_weight", sample_weight, len(right))))

    def _map(self) -> str:
        from . import _map

        if not hasattr(self, "predictions_"):
            raise not_fitted(self)
        choice = self.answer_["choice"]
        return _map.classes(self.graph_, self.predictions_, self.classes_.tolist(), f"{type(self).__name__}: {self.answer_['classifier']}, kernel {choice['family']}")
