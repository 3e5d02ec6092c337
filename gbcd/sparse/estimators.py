"""The sparse rivals of the exact GP as scikit-learn estimators: SD, SR and MPGP."""

from __future__ import annotations

from typing import Any, Self, get_args

import numpy as np
import numpy.typing as npt

from gbcd.hyperparameters.request import Hyperparameters
from gbcd.hyperparameters.search import Objective
from gbcd.kernels.base import Kernel
from gbcd.scaling import InputScaling, centre
from gbcd.solvers.cholesky import CholeskyFactor
from gbcd.sparse.base import N_REGRESSORS, Solved, SparseGP
from gbcd.sparse.pursuit import N_CANDIDATES, ChosenCallback, Criterion, MatchingPursuit
from gbcd.sparse.regressors import divided_squares, fit_regressors
from gbcd.system.kernel_system import KernelSystem
from gbcd.training_data import TrainingData
from gbcd.types import Float64Array, IntArray
from gbcd.validation import positive_integer


class SubsetOfData(SparseGP):
    """The exact GP on p random training rows (SD); the other rows only count in the scaling.

    Parameters
    ----------
    kernel, gamma, noise, input_scaling
        As in `GBCDRegressor`.
    n_regressors : int
        p, clipped to the number of rows.
    subset, hyperparameter_objective, random_state, n_jobs
        As in `GBCDRegressor`.

    Attributes
    ----------
    active_ : int array (p,)
        The training rows taken, sorted.
    regressors_ : array (p, d)
        Their scaled inputs.
    coef_ : array (p, q)
        Coefficients of the standardised outputs.
    kernel_evaluations_ : int
        Kernel values that `fit` computed, without those for the hyperparameters; not in a model rebuilt by
        `from_state`.
    kernel_, noise_, amplitude_, hyperparameters_, x_offset_, x_scale_, y_mean_, y_scale_, n_features_in_
        As in `GBCDRegressor`; the scaling is that of all training rows.
    """

    _factor: Float64Array

    def _solve(self, data: TrainingData, active: IntArray, found: Hyperparameters) -> Solved:
        system = _dense_system(data.X[active], found.kernel, found.noise)
        factor = CholeskyFactor(system)
        coef = factor.solve(data.Y[active])
        return Solved(coef, system.origin, system.kernel_evaluations, {"_factor": _lower(factor)})

    def _variance(self, points: Float64Array) -> Float64Array:
        if not hasattr(self, "_factor"):
            self._factor = _lower(CholeskyFactor(_dense_system(self.regressors_, self.kernel_, self.noise_)))
        explained = divided_squares(self.kernel_, points, self.regressors_, self._origin, [self._factor])
        return np.maximum(self.kernel_.diagonal(points) - explained, 0)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle: without the factor, which comes back on demand."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_factor"}


class SubsetOfRegressors(SparseGP):
    """The GP of the prior f(x) = k_p(x)' beta on p random training rows, fitted to all n rows (SR).

    Parameters
    ----------
    kernel, gamma, noise, input_scaling
        As in `GBCDRegressor`.
    n_regressors : int
        p, clipped to the number of rows.
    subset, hyperparameter_objective, random_state, n_jobs
        As in `GBCDRegressor`.

    Attributes
    ----------
    active_ : int array (p,)
        Rows of the training inputs that became regressors, sorted.
    regressors_ : array (p, d)
        Their scaled inputs.
    coef_ : array (p, q)
        beta, of the standardised outputs.
    kernel_evaluations_ : int
        Kernel values that `fit` computed, without those for the hyperparameters; not in a model rebuilt by
        `from_state`.
    kernel_, noise_, amplitude_, hyperparameters_, x_offset_, x_scale_, y_mean_, y_scale_, n_features_in_
        As in `GBCDRegressor`.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        From `fit`, where the noise is too small for float64.

    Notes
    -----
    Rasmussen and Williams, "Gaussian Processes for Machine Learning", section 8.3.1: the mean is
    k_p' (K_pn K_np + noise K_pp)^-1 K_pn y, the variance noise k_p' (K_pn K_np + noise K_pp)^-1 k_p.

    The variance is that of a model with p degrees of freedom, and has its known fault. Far from the regressors, where
    k_p vanishes, the variance falls to zero instead of rising to the prior's, and means nothing.
    """

    _factors: list[Float64Array]

    def _solve(self, data: TrainingData, active: IntArray, found: Hyperparameters) -> Solved:
        fit = fit_regressors(data.X, data.Y, active, found.kernel, found.noise)
        return Solved(fit.coef, centre(data.X), fit.kernel_evaluations, {"_factors": [fit.root, fit.factor]})

    def _variance(self, points: Float64Array) -> Float64Array:
        if not hasattr(self, "_factors"):
            raise ValueError(
                "This model was stored without what standard deviations need: store it with "
                "get_state(with_std=True), or fit it again."
            )
        return self.noise_ * divided_squares(self.kernel_, points, self.regressors_, self._origin, self._factors)

    def get_state(self, with_std: bool = False) -> dict[str, Any]:
        """Return the fitted model as plain arrays and numbers, for a file store.

        Parameters
        ----------
        with_std : bool
            Also return what standard deviations need: 16 p^2 bytes.

        Raises
        ------
        TypeError
            For a kernel other than `SquaredExponential`.
        ValueError
            For deviations of a model that was stored without them.
        """
        state = super().get_state()
        if with_std:
            if not hasattr(self, "_factors"):
                raise ValueError("This model was itself stored without what standard deviations need: fit it again.")
            state |= {"root": np.tril(self._factors[0]), "factor": np.tril(self._factors[1])}
        return state

    @classmethod
    def from_state(cls, state: dict[str, Any], **parameters: Any) -> Self:
        """Rebuild a fitted model from `get_state`; its predictions are the same."""
        model = super().from_state(state, **parameters)
        if "root" in state:
            model._factors = [np.ascontiguousarray(state[name], dtype=np.float64) for name in ("root", "factor")]
        return model


class MatchingPursuitGP(SubsetOfRegressors):
    """The subset-of-regressors GP on regressors chosen by matching pursuit (MPGP).

    Parameters
    ----------
    kernel, gamma, noise, input_scaling
        As in `GBCDRegressor`.
    n_regressors : int
        p, clipped to the number of rows.
    n_candidates : int
        Random rows scored at each step. The best of the default 59 is among the best 5 % of all rows with probability
        0.95.
    criterion : {"line_search", "exact"}
        How far a candidate lowers the objective |Y - K_np beta|^2 + noise beta' K_pp beta. "line_search": by its own
        coefficient alone (Keerthi and Chu). "exact": with all coefficients solved for again (Smola and Bartlett), which
        takes 2 n_candidates times the arithmetic.
    subset, hyperparameter_objective, random_state, n_jobs
        As in `GBCDRegressor`.
    callback : callable, optional
        Called by `fit` with the numbers of regressors chosen and wanted, before the first and after each.

    Attributes
    ----------
    active_ : int array (p,)
        Rows of the training inputs that became regressors, in the order chosen: fewer than asked for where all other
        rows are copies of these.
    regressors_ : array (p, d)
        Their scaled inputs.
    coef_ : array (p, q)
        beta, of the standardised outputs.
    kernel_evaluations_ : int
        Kernel values that `fit` computed, without those for the hyperparameters; not in a model rebuilt by
        `from_state`.
    kernel_, noise_, amplitude_, hyperparameters_, x_offset_, x_scale_, y_mean_, y_scale_, n_features_in_
        As in `GBCDRegressor`.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        From `fit`, where the noise is too small for float64.

    Notes
    -----
    S. S. Keerthi and W. Chu, "A matching pursuit approach to sparse Gaussian process regression", NIPS 2005;
    A. J. Smola and P. Bartlett, "Sparse greedy Gaussian process regression", NIPS 2000.

    Selection takes 4 n p bytes in float32. Where rows are nearly combinations of the regressors, it goes on in float64,
    with 8 n p bytes. The coefficients are solved for once in float64. On Kin40k (10,000 rows, p = 2,000) the exact
    criterion takes 3.6 times as long, and the error is 6 % smaller. The variance is that of `SubsetOfRegressors`, with
    its fault.
    """

    def __init__(
        self,
        kernel: str | Kernel = "ard",
        *,
        gamma: npt.ArrayLike | None = None,
        noise: float | None = None,
        input_scaling: InputScaling | None = "column",
        n_regressors: int = N_REGRESSORS,
        n_candidates: int = N_CANDIDATES,
        criterion: Criterion = "line_search",
        subset: int = 2000,
        hyperparameter_objective: Objective = "marginal",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        callback: ChosenCallback | None = None,
    ) -> None:
        super().__init__(
            kernel,
            gamma=gamma,
            noise=noise,
            input_scaling=input_scaling,
            n_regressors=n_regressors,
            subset=subset,
            hyperparameter_objective=hyperparameter_objective,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.n_candidates = n_candidates
        self.criterion = criterion
        self.callback = callback

    def _check_parameters(self) -> None:
        super()._check_parameters()
        positive_integer(self.n_candidates, "n_candidates")
        if self.criterion not in get_args(Criterion):
            raise ValueError(f"criterion must be 'line_search' or 'exact', not {self.criterion!r}.")

    def _choose(
        self, data: TrainingData, found: Hyperparameters, count: int, rng: np.random.Generator
    ) -> tuple[IntArray, int]:
        pursuit = MatchingPursuit(found.kernel, found.noise, self.n_candidates, self.criterion, self.callback)
        chosen = pursuit.select(data.X, data.Y, count, rng)
        return chosen.active, chosen.kernel_evaluations


def _dense_system(regressors: Float64Array, kernel: Kernel, noise: float) -> KernelSystem:
    return KernelSystem(regressors, kernel, noise, precision="float64")


def _lower(factor: CholeskyFactor) -> Float64Array:
    return np.asarray(factor.lower, dtype=np.float64)
