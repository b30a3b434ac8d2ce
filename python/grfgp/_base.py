"""The contract of scikit-learn's estimators, with or without scikit-learn."""

from __future__ import annotations

import inspect
from typing import Any, Dict

from .errors import GrfgpError

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.exceptions import NotFittedError as _NotFittedError
except ImportError:

    class BaseEstimator:  # type: ignore[no-redef]
        """Parameters are the arguments of ``__init__``, kept as they were given."""

        def get_params(self, deep: bool = True) -> Dict[str, Any]:
            names = list(inspect.signature(type(self).__init__).parameters)[1:]
            return {name: getattr(self, name) for name in names}

        def set_params(self, **params: Any) -> "BaseEstimator":
            known = self.get_params()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(f"{name} is no parameter of {type(self).__name__}; its parameters are {', '.join(known)}")
                setattr(self, name, value)
            return self

        def __repr__(self) -> str:
            return f"{type(self).__name__}({type(self.get_params()['graph']).__name__})"

    class RegressorMixin:  # type: ignore[no-redef]
        _estimator_type = "regressor"

    class ClassifierMixin:  # type: ignore[no-redef]
        _estimator_type = "classifier"

    _NotFittedError = ValueError

__all__ = ["BaseEstimator", "ClassifierMixin", "NotFitted", "RegressorMixin", "not_fitted"]


class NotFitted(GrfgpError, _NotFittedError):
    """A method that needs a fitted model was called before ``fit``."""


def not_fitted(estimator: object) -> NotFitted:
    return NotFitted(f"this {type(estimator).__name__} has no model yet; call fit first")
