"""What the sparse estimators have in common: regressors chosen among the training rows, and the mean they give."""

from __future__ import annotations

import logging
from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gbcd.base import GPEstimator, Prediction, stored_array
from gbcd.hyperparameters.request import HyperparameterRequest, Hyperparameters, find_hyperparameters
from gbcd.hyperparameters.search import Objective
from gbcd.kernels.base import Kernel
from gbcd.scaling import InputScaling
from gbcd.system.kernel_matrix import kernel_product
from gbcd.training_data import TrainingData
from gbcd.types import Float64Array, IntArray
from gbcd.validation import positive_integer

logger = logging.getLogger(__name__)

N_REGRESSORS = 2000
"""Default number of regressors, as in the paper's comparisons."""


class Solved(NamedTuple):
    """The coefficients of given regressors."""

    coef: Float64Array
    """Coefficients (p, q)."""

    origin: Float64Array
    """Centre (d,) that kernel tiles are evaluated about."""

    kernel_evaluations: int

    for_variances: dict[str, Any]
    """Attributes that `_variance` needs, by name."""


class SparseGP(GPEstimator):
    """A GP whose mean is a combination of the kernel at p training rows, `regressors_`.

    Kernel, noise and scaling are understood as by `GBCDRegressor`: given, or fitted to a random subset of the rows.
    A subclass defines the coefficients (`_solve`) and the variance (`_variance`), and may choose the rows (`_choose`).
    """

    _basis = "regressors"

    active_: IntArray
    regressors_: Float64Array
    kernel_evaluations_: int
    _origin: Float64Array

    def __init__(
        self,
        kernel: str | Kernel = "ard",
        *,
        gamma: npt.ArrayLike | None = None,
        noise: float | None = None,
        input_scaling: InputScaling | None = "column",
        n_regressors: int = N_REGRESSORS,
        subset: int = 2000,
        hyperparameter_objective: Objective = "marginal",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            kernel,
            gamma=gamma,
            noise=noise,
            input_scaling=input_scaling,
            subset=subset,
            hyperparameter_objective=hyperparameter_objective,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.n_regressors = n_regressors

    def _check_parameters(self) -> None:
        positive_integer(self.n_regressors, "n_regressors")

    def _choose(
        self,
        data: TrainingData,
        found: Hyperparameters,  # noqa: ARG002 - used by subclasses
        count: int,
        rng: np.random.Generator,
    ) -> tuple[IntArray, int]:
        """Return the rows (p,) that become regressors, here random ones, and the number of kernel values evaluated."""
        return np.sort(rng.choice(len(data.X), count, replace=False)), 0

    @abstractmethod
    def _solve(self, data: TrainingData, active: IntArray, found: Hyperparameters) -> Solved:
        """Return the coefficients of the regressors in the rows `active`."""

    @abstractmethod
    def _variance(self, points: Float64Array) -> Float64Array:
        """Return the variance of the latent function at scaled points (t, d), shape (t,), not negative."""

    def _fit(self, data: TrainingData, request: HyperparameterRequest, rng: np.random.Generator) -> dict[str, Any]:
        found = find_hyperparameters(request, data, rng)
        count = min(self.n_regressors, len(data.X))
        if count < self.n_regressors:
            name = type(self).__name__
            logger.info("%s: %d regressors are clipped to the %d rows there are", name, self.n_regressors, count)
        active, choosing = self._choose(data, found, count, rng)
        solved = self._solve(data, active, found)
        return {
            **self._common(data.scaling, found, data.flat),
            "active_": active,
            "regressors_": data.X[active],
            "coef_": solved.coef,
            "kernel_evaluations_": choosing + solved.kernel_evaluations,
            "_origin": solved.origin,
            **solved.for_variances,
        }

    def predict(self, X: npt.ArrayLike, return_std: bool = False, include_noise: bool = False) -> Prediction:
        """Return the predictive mean, and on request its standard deviation.

        Parameters
        ----------
        X : array (t, d)
        return_std : bool
            Also return the standard deviation of the latent function, the noise not included.
        include_noise : bool
            Return the standard deviation of a new observation instead: sqrt(std^2 + noise_ amplitude_ y_scale_^2).

        Returns
        -------
        mean : array (t,) or (t, q)
        std : array (t,) or (t, q)
            In the units of each output; zero for a constant output.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            Before `fit`.
        ValueError
            For another number of columns than the training inputs had, values that are not finite, or deviations of a
            model that was stored without what they need.
        """
        return self._predict(X, return_std, include_noise, lambda inputs: self._variance(self.scale_inputs(inputs)))

    def _mean(self, X: Float64Array) -> Float64Array:
        points = self.scale_inputs(X)
        return self._scaling.in_units(kernel_product(self.kernel_, points, self.regressors_, self.coef_, self._origin))

    def _own_state(self) -> dict[str, npt.NDArray[Any]]:
        return {"regressors": self.regressors_, "active": self.active_, "coef": self.coef_, "origin": self._origin}

    def _restore(self, state: dict[str, Any]) -> None:
        self.regressors_ = stored_array(state["regressors"])
        self.active_ = np.asarray(state["active"], dtype=np.intp)
        self.coef_ = stored_array(state["coef"])
        self._origin = stored_array(state["origin"])
