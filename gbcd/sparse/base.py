"""What the sparse estimators have in common: scaling, hyperparameters, the mean, and the state to store."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gbcd.hyperparameters.request import Request, find_hyperparameters, fitted_amplitude, stored_amplitude
from gbcd.hyperparameters.search import Objective
from gbcd.kernels.base import Kernel
from gbcd.kernels.squared_exponential import SquaredExponential
from gbcd.scaling import InputScaling, input_scale, scaled, standardisation
from gbcd.system.tiles import kernel_product
from gbcd.threads import thread_count, worker_limit
from gbcd.training_data import new_inputs, refuse_weights, training_data
from gbcd.types import Float64Array, IntArray
from gbcd.validation import group_labels, positive_integer

logger = logging.getLogger(__name__)

N_REGRESSORS = 2000
"""p in the comparisons of the paper."""


class SparseGP(MultiOutputMixin, RegressorMixin, BaseEstimator, ABC):
    """A GP whose mean is a combination of the kernel at p training rows, `regressors_`.

    Kernel, noise and scaling are understood as by `GBCDRegressor`: given, or fitted to a random subset of the rows.
    A subclass says which coefficients (`_solve`) and what variance (`_variance`), and may choose the rows (`_choose`).
    """

    coef_: Float64Array

    def __init__(
        self,
        kernel: str | Kernel = "ard",
        gamma: npt.ArrayLike | None = None,
        noise: float | None = None,
        input_scaling: InputScaling | None = "column",
        n_regressors: int = N_REGRESSORS,
        subset: int = 2000,
        hyperparameter_objective: Objective = "marginal",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.noise = noise
        self.input_scaling = input_scaling
        self.n_regressors = n_regressors
        self.subset = subset
        self.hyperparameter_objective = hyperparameter_objective
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _choose(
        self,
        X: Float64Array,
        Y: Float64Array,  # noqa: ARG002 - for choices that regard the outputs
        count: int,
        rng: np.random.Generator,
    ) -> tuple[IntArray, int]:
        """Return the rows (p,) of the scaled data that become regressors (at random), and the kernel values it took."""
        return np.sort(rng.choice(len(X), count, replace=False)), 0

    @abstractmethod
    def _solve(self, X: Float64Array, Y: Float64Array) -> int:
        """Set `coef_`, what `_variance` needs and the `_origin` of kernel tiles; return the kernel values computed."""

    @abstractmethod
    def _variance(self, points: Float64Array) -> Float64Array:
        """Return the variance of the latent function at scaled points (t, d), shape (t,), not negative."""

    def _check_parameters(self) -> None:
        """Refuse parameters of the subclass that are out of range."""

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, groups: npt.ArrayLike | None = None, **unsupported: Any) -> Self:
        """Fit the hyperparameters that are not given, choose the regressors and solve for their coefficients.

        Parameters
        ----------
        X : array (n, d)
        y : array (n,) or (n, q)
        groups : int array (n,), optional
            Rows of one group are near-duplicates, which the fit of the hyperparameters regards, see
            `fit_hyperparameters`.
        **unsupported
            Nothing else: `sample_weight` is refused.

        Returns
        -------
        estimator
            Itself.

        Raises
        ------
        ValueError
            For NaN or infinity (naming row and column), shapes that do not match, parameters out of range or sample
            weights. After this or any other exception the model is as it was before.
        """
        refuse_weights(self, unsupported)
        before = self.__dict__.copy()
        try:
            with worker_limit(thread_count(self.n_jobs)):
                self._fit(X, y, groups)
        except BaseException:
            self.__dict__ = before
            raise
        return self

    def _fit(self, X: npt.ArrayLike, y: npt.ArrayLike, groups: npt.ArrayLike | None) -> None:
        request = Request(self.kernel, self.gamma, self.noise, self.subset, self.hyperparameter_objective)
        wanted = positive_integer(self.n_regressors, "n_regressors")
        self._check_parameters()
        inputs, outputs = training_data(self, X, y)
        labels = None if groups is None else group_labels(groups, len(inputs))
        self._flat = outputs.ndim == 1
        outputs = outputs.reshape(len(outputs), -1)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        self.x_offset_, self.x_scale_ = input_scale(inputs, self.input_scaling)
        self.y_mean_, self.y_scale_ = standardisation(outputs)
        rows = self.scale_inputs(inputs)
        targets = (outputs - self.y_mean_) / self.y_scale_
        self.kernel_, self.noise_, self.hyperparameters_ = find_hyperparameters(
            request, rows, targets, labels, rng, None
        )
        self.amplitude_ = fitted_amplitude(self.hyperparameters_, targets.shape[1])
        count = min(wanted, len(rows))
        if count < wanted:
            logger.info("%s: %d regressors are clipped to the %d rows there are", type(self).__name__, wanted, count)
        self.active_, choosing = self._choose(rows, targets, count, rng)
        self.regressors_ = rows[self.active_]
        self.kernel_evaluations_ = choosing + self._solve(rows, targets)

    def predict(
        self, X: npt.ArrayLike, return_std: bool = False, include_noise: bool = False
    ) -> Float64Array | tuple[Float64Array, Float64Array]:
        """Return the predictive mean, and on request its standard deviation.

        Parameters
        ----------
        X : array (t, d)
        return_std : bool
            Also return the standard deviation of the latent function, the noise not included.
        include_noise : bool
            Make it that of a new observation instead: sqrt(std^2 + noise_ amplitude_ y_scale_^2).

        Returns
        -------
        mean : array (t,) or (t, q)
        std : array (t,) or (t, q)
            In the units of each output; zero for a constant one.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            Before `fit`.
        ValueError
            For another number of columns than the training inputs had, values that are not finite, or deviations of a
            model that was stored without what they need.
        """
        check_is_fitted(self, "coef_")
        points = self.scale_inputs(new_inputs(self, X))
        with worker_limit(thread_count(self.n_jobs)):
            product = kernel_product(self.kernel_, points, self.regressors_, self.coef_, self._origin)
            mean = self._shaped(product * self.y_scale_ + self.y_mean_)
            if not return_std:
                return mean
            variance = self._variance(points)
        if include_noise:
            variance = variance + self.noise_
        # A constant output is known: its coefficients are zero.
        units = np.where((self.coef_ != 0).any(axis=0), np.sqrt(self.amplitude_) * self.y_scale_, 0.0)
        return mean, self._shaped(np.sqrt(variance)[:, None] * units)

    def scale_inputs(self, X: Float64Array) -> Float64Array:
        """Return X (t, d) as the kernel takes it."""
        return scaled(X, self.x_offset_, self.x_scale_)

    def get_state(self) -> dict[str, Any]:
        """Return the fitted model as plain arrays and numbers, for a file store.

        Raises
        ------
        TypeError
            For a kernel other than `SquaredExponential`.
        """
        check_is_fitted(self, "coef_")
        if not isinstance(self.kernel_, SquaredExponential):
            raise TypeError(f"Only a SquaredExponential kernel can be stored, not {type(self.kernel_).__name__}.")
        return {
            "gamma": self.kernel_.gamma,
            "noise": float(self.noise_),
            "amplitude": self.amplitude_,
            "regressors": self.regressors_,
            "active": self.active_,
            "coef": self.coef_,
            "origin": self._origin,
            "x_offset": self.x_offset_,
            "x_scale": self.x_scale_,
            "y_mean": self.y_mean_,
            "y_scale": self.y_scale_,
            "flat": bool(self._flat),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], **parameters: Any) -> Self:
        """Rebuild a fitted model from `get_state`; its predictions are the same.

        Parameters
        ----------
        state : dict
            One without ``x_offset`` and ``x_scale`` is of a model that took its inputs as they were, one without
            ``amplitude`` of a model with unit amplitudes.
        **parameters
            Constructor parameters, for another `fit`.
        """
        model = cls(**parameters)
        model.kernel_ = SquaredExponential(state["gamma"])
        model.noise_ = float(state["noise"])
        model.hyperparameters_ = None
        model._flat = bool(state["flat"])
        model.active_ = np.asarray(state["active"], dtype=np.intp)
        model._origin = np.asarray(state["origin"], dtype=np.float64)
        d = len(model._origin)
        unscaled = {"x_offset": np.zeros(d), "x_scale": np.ones(d)}
        for name in ("regressors", "coef", "x_offset", "x_scale", "y_mean", "y_scale"):
            value = state[name] if name in state else unscaled[name]
            setattr(model, f"{name}_", np.ascontiguousarray(value, dtype=np.float64))
        model.amplitude_ = stored_amplitude(state)
        model.n_features_in_ = d
        return model

    def _shaped(self, outputs: Float64Array) -> Float64Array:
        return outputs[:, 0] if self._flat else outputs
