"""What all estimators share: parameters, the steps of `fit`, predictions in the outputs' units, the stored state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gbcd.hyperparameters.request import HyperparameterRequest, Hyperparameters
from gbcd.hyperparameters.search import HyperparameterFit, Objective
from gbcd.kernels.base import Kernel
from gbcd.kernels.squared_exponential import SquaredExponential
from gbcd.scaling import InputScaling, Scaling
from gbcd.threads import thread_count, worker_limit
from gbcd.training_data import TrainingData, new_inputs, note_columns, refuse_weights
from gbcd.types import Float64Array

Prediction = Float64Array | tuple[Float64Array, Float64Array]


class GPEstimator(MultiOutputMixin, RegressorMixin, BaseEstimator, ABC):
    """A Gaussian process regressor of scikit-learn's kind.

    A subclass defines how it is solved (`_fit`), what it predicts (`_mean`), and which arrays it adds to a stored state
    (`_own_state`, `_restore`). `GBCDRegressor` describes the parameters and attributes.
    """

    _basis: ClassVar[str]
    """Key, in the stored state, of the scaled inputs to which the coefficients belong."""

    kernel_: Kernel
    noise_: float
    amplitude_: Float64Array
    hyperparameters_: HyperparameterFit | None
    coef_: Float64Array
    x_offset_: Float64Array
    x_scale_: Float64Array
    y_mean_: Float64Array
    y_scale_: Float64Array
    n_features_in_: int
    _flat: bool

    def __init__(
        self,
        kernel: str | Kernel = "ard",
        *,
        gamma: npt.ArrayLike | None = None,
        noise: float | None = None,
        input_scaling: InputScaling | None = "column",
        subset: int = 2000,
        hyperparameter_objective: Objective = "marginal",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.noise = noise
        self.input_scaling = input_scaling
        self.subset = subset
        self.hyperparameter_objective = hyperparameter_objective
        self.random_state = random_state
        self.n_jobs = n_jobs

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters of the subclass that are out of range."""

    @abstractmethod
    def _fit(self, data: TrainingData, request: HyperparameterRequest, rng: np.random.Generator) -> dict[str, Any]:
        """Return the fitted attributes by name. The estimator is not changed, since the fit may still fail."""

    @abstractmethod
    def _mean(self, X: Float64Array) -> Float64Array:
        """Return the means (t, q), in the units of the outputs, at unscaled inputs (t, d)."""

    @abstractmethod
    def _own_state(self) -> dict[str, npt.NDArray[Any]]:
        """Return, by name, the coefficients and the arrays that only this estimator stores."""

    @abstractmethod
    def _restore(self, state: dict[str, Any]) -> None:
        """Set the attributes that `_own_state` stores. The attributes that all estimators share are set already."""

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, groups: npt.ArrayLike | None = None, **unsupported: Any) -> Self:
        """Fit the hyperparameters that are not given, then solve for the coefficients.

        Parameters
        ----------
        X : array (n, d)
        y : array (n,) or (n, q)
        groups : int array (n,), optional
            Labels of near-duplicate rows (e.g. one label for a time block of a video). The search for hyperparameters
            takes them into account, see `fit_hyperparameters`. The coefficients use all rows alike.
        **unsupported
            No other argument is taken. `sample_weight` is refused with the reason.

        Returns
        -------
        estimator
            The estimator itself.

        Raises
        ------
        ValueError
            For NaN or infinity (naming row and column), shapes that do not match, parameters out of range, sample
            weights, or a checkpoint that is damaged or belongs to another fit. After any exception the model is as it
            was before.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            Where the search for hyperparameters ends at white noise, or the solver stops short of its tolerance. The
            message gives the gradient norm that was reached.
        """
        refuse_weights(self, unsupported)
        with worker_limit(thread_count(self.n_jobs)):
            # Parameters are checked before the search for hyperparameters, which may take minutes.
            request = self._request()
            self._check_parameters()
            data = TrainingData.checked(self, X, y, groups, self.input_scaling)
            rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
            fitted = self._fit(data, request, rng)
        note_columns(self, X)
        self._set(fitted)
        return self

    def _request(self) -> HyperparameterRequest:
        return HyperparameterRequest(self.kernel, self.gamma, self.noise, self.subset, self.hyperparameter_objective)

    def _predict(
        self,
        X: npt.ArrayLike,
        return_std: bool,
        include_noise: bool,
        variances: Callable[[Float64Array], Float64Array],
    ) -> Prediction:
        """Return means and, if asked for, standard deviations; `variances` maps inputs (t, d) to latent variances."""
        check_is_fitted(self, "coef_")
        inputs = new_inputs(self, X)
        with worker_limit(thread_count(self.n_jobs)):
            mean = self._shaped(self._mean(inputs))
            if not return_std:
                return mean
            values = variances(inputs)
        if include_noise:
            values = values + self.noise_
        return mean, self._shaped(np.sqrt(values)[:, None] * self._deviation_scale())

    def scale_inputs(self, X: Float64Array) -> Float64Array:
        """Return X (t, d) scaled for the kernel, for other models that share kernel and noise."""
        return self._scaling.inputs(X)

    def get_state(self) -> dict[str, Any]:
        """Return what prediction needs as plain arrays, numbers and strings, for a file store.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            Before `fit`.
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
            **self._own_state(),
            "x_offset": self.x_offset_,
            "x_scale": self.x_scale_,
            "y_mean": self.y_mean_,
            "y_scale": self.y_scale_,
            "flat": bool(self._flat),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], **parameters: Any) -> Self:
        """Rebuild a fitted model from the state that `get_state` returned; the predictions are the same.

        Parameters
        ----------
        state : dict
            Without ``amplitude``, the amplitudes are 1. Without ``x_offset`` and ``x_scale``, inputs are not scaled.
        **parameters
            Constructor parameters, for standard deviations (e.g. the memory budget) or another `fit`.
        """
        d, q = state[cls._basis].shape[1], state["coef"].shape[1]
        values = {"x_offset": np.zeros(d), "x_scale": np.ones(d), "amplitude": np.ones(q)} | state
        arrays = {name: stored_array(values[name]) for name in ("x_offset", "x_scale", "y_mean", "y_scale")}
        found = Hyperparameters(
            SquaredExponential(state["gamma"]), float(state["noise"]), stored_array(values["amplitude"]), None
        )
        model = cls(**parameters)
        model.n_features_in_ = d
        model._set(model._common(Scaling(**arrays), found, bool(state["flat"])))
        model._restore(state)
        return model

    def _set(self, attributes: dict[str, Any]) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)

    @staticmethod
    def _common(scaling: Scaling, found: Hyperparameters, flat: bool) -> dict[str, Any]:
        """Return the attributes that all estimators have in common, by name."""
        return {
            "kernel_": found.kernel,
            "noise_": found.noise,
            "amplitude_": found.amplitude,
            "hyperparameters_": found.fit,
            "x_offset_": scaling.x_offset,
            "x_scale_": scaling.x_scale,
            "y_mean_": scaling.y_mean,
            "y_scale_": scaling.y_scale,
            "_flat": flat,
        }

    @property
    def _scaling(self) -> Scaling:
        return Scaling(self.x_offset_, self.x_scale_, self.y_mean_, self.y_scale_)

    def _deviation_scale(self) -> Float64Array:
        """Return the factors (q,) that turn a standard deviation for k(x, x) = 1 into the units of each output.

        The factor of a constant output is zero, since its value is known. All its coefficients are zero.
        """
        return np.where((self.coef_ != 0).any(axis=0), np.sqrt(self.amplitude_) * self.y_scale_, 0.0)

    def _shaped(self, outputs: Float64Array) -> Float64Array:
        """Return outputs (t, q), or (t,) where the training outputs were a vector."""
        return outputs[:, 0] if self._flat else outputs


def stored_array(values: npt.ArrayLike) -> Float64Array:
    """Return an array of a stored state as C-ordered float64, which the solvers need."""
    return np.ascontiguousarray(values, dtype=np.float64)
