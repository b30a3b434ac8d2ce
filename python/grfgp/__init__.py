"""Gaussian processes on the nodes of a graph.

You have a network and a few costly, noisy values at its nodes. :class:`GraphRegressor`
predicts the value at every node, with its uncertainty, and :class:`GraphClassifier` the
class; both are estimators of scikit-learn. :class:`Study` asks a server which node to
measure next, and :func:`maximize` searches for the best node of a Python function.

The package runs the program ``grfgp``, which comes with it.
"""

from ._base import NotFitted
from ._version import __version__
from .classifier import GraphClassifier
from .errors import (
    AccessDenied,
    BadData,
    Conflict,
    FitError,
    GrfgpError,
    GrfgpWarning,
    InternalError,
    NoModel,
    NotFound,
    NothingLeft,
    ProgramMissing,
    StoreInUse,
    TooLarge,
    Unreachable,
    UsageError,
)
from .graph import Graph
from .regressor import GraphRegressor
from .search import Found, maximize, minimize
from .server import Server, serve
from .study import Study, Trial, Trials
from .tables import Table

__all__ = [
    "AccessDenied",
    "BadData",
    "Conflict",
    "FitError",
    "Found",
    "Graph",
    "GraphClassifier",
    "GraphRegressor",
    "GrfgpError",
    "GrfgpWarning",
    "InternalError",
    "NoModel",
    "NotFitted",
    "NotFound",
    "NothingLeft",
    "ProgramMissing",
    "Server",
    "StoreInUse",
    "Study",
    "Table",
    "TooLarge",
    "Trial",
    "Trials",
    "Unreachable",
    "UsageError",
    "__version__",
    "maximize",
    "minimize",
    "serve",
]
