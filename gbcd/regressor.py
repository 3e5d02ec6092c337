"""`GBCDRegressor`: exact Gaussian process regression as a scikit-learn estimator."""

from __future__ import annotations

import sys
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from gbcd._arrays import Float64Array, IntArray, group_labels, positive_number, require_finite, standardisation
from gbcd._tiles import kernel_product
from gbcd.kernels import Kernel, SquaredExponential
from gbcd.likelihood import HyperparameterFit, Objective, fit_hyperparameters
from gbcd.solvers import TraceEntry, solve
from gbcd.solvers.result import Callback
from gbcd.system import KernelSystem, Precision
from gbcd.variance import predictive_variance

InputScaling = Literal["column", "global"]


class GBCDRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Exact Gaussian process regression by greedy block coordinate descent.

    Outputs are standardised per column (a constant column is left out of the likelihood and predicted as
    its value, exactly); one kernel and one active set serve all of them.

    Parameters
    ----------
    kernel : {"ard", "isotropic"} or Kernel
        A `Kernel` is used as it is, `gamma` must then be None.
    gamma : float or array (d,), optional
        Of exp(-sum_l gamma_l (x_l - x'_l)^2) on the scaled inputs, which is 1 / (2 length_scale^2) of
        scikit-learn's RBF; fitted when None.
    noise : float, optional
        sigma^2 of the standardised outputs; fitted when None. A new observation varies about the mean
        by sqrt(std^2 + noise_ y_scale_^2) with the `std` of `predict`.
    input_scaling : {"column", "global"} or None
        "column" standardises every input; "global" divides all by one number and keeps their
        proportions (histograms); None takes them as they are.
    tol : float
        On the infinity norm of the gradient, for standardised outputs.
    block_size : int, optional
        m; 500 by default, at most n.
    solver : str
        A name `gbcd.solve` knows.
    memory_budget : int or "auto"
        Bytes that may be held for kernel values.
    precision : {"mixed", "float64"}
        Of the kernel tiles; residuals are checked in float64 in both.
    subset : int
        Rows the hyperparameters are fitted on, at most n.
    hyperparameter_objective : {"marginal", "leave_group_out"}
        "leave_group_out" needs `groups` in `fit` (with scikit-learn's cross_val_score:
        ``params={"groups": groups}``).
    max_passes : float
        Limit of the solve, see `gbcd.solve`.
    random_state : int, RandomState or None
    verbose : bool
        Print a line to stderr for every iteration.
    callback : callable, optional
        Gets a `gbcd.TraceEntry` after every iteration; returning True stops.

    Attributes
    ----------
    kernel_ : Kernel
    noise_ : float
    coef_ : array (n, q)
        alpha, of the standardised outputs.
    X_train_ : array (n, d)
        The scaled training inputs.
    x_offset_, x_scale_ : array (d,)
        Inputs are taken as (x - x_offset_) / x_scale_.
    y_mean_, y_scale_ : array (q,)
    hyperparameters_ : HyperparameterFit or None
        None where kernel and noise were given, or the model was rebuilt by `from_state`.
    solve_result_ : SolveResult
        Not in a model rebuilt by `from_state`.
    n_features_in_ : int

    Notes
    -----
    L. Bo and C. Sminchisescu, "Greedy block coordinate descent for large scale Gaussian process
    regression", UAI 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from gbcd import GBCDRegressor
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = GBCDRegressor(random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.01)
    True
    """

    def __init__(
        self,
        kernel: str | Kernel = "ard",
        gamma: npt.ArrayLike | None = None,
        noise: float | None = None,
        input_scaling: InputScaling | None = "column",
        tol: float = 1e-4,
        block_size: int | None = None,
        solver: str = "gbcd",
        memory_budget: int | Literal["auto"] = "auto",
        precision: Precision = "mixed",
        subset: int = 2000,
        hyperparameter_objective: Objective = "marginal",
        max_passes: float = 300.0,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.noise = noise
        self.input_scaling = input_scaling
        self.tol = tol
        self.block_size = block_size
        self.solver = solver
        self.memory_budget = memory_budget
        self.precision = precision
        self.subset = subset
        self.hyperparameter_objective = hyperparameter_objective
        self.max_passes = max_passes
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, groups: npt.ArrayLike | None = None) -> GBCDRegressor:
        """Fit the hyperparameters that are not given, then solve for the coefficients.

        Parameters
        ----------
        X : array (n, d)
        y : array (n,) or (n, q)
        groups : int array (n,), optional
            Rows of one group are near-duplicates (e.g. a time block of a video): the hyperparameters are
            fitted with regard to that, see `fit_hyperparameters`. The coefficients use all rows alike.

        Returns
        -------
        GBCDRegressor
            Itself.

        Raises
        ------
        ValueError
            For NaN or infinity (naming row and column), shapes that do not match, or parameters out of range. After
            this or any other exception the model is as it was before.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            With the gradient norm that was reached, where that is above `tol`.
        """
        before = self.__dict__.copy()
        try:
            self._fit(X, y, groups)
        except BaseException:
            self.__dict__ = before
            raise
        return self

    def _fit(self, X: npt.ArrayLike, y: npt.ArrayLike, groups: npt.ArrayLike | None) -> None:
        _name_bad_outputs(y)
        inputs, outputs = validate_data(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_all_finite=False
        )
        require_finite(inputs, "X")
        labels = None if groups is None else group_labels(groups, len(inputs))
        self._flat = outputs.ndim == 1
        outputs = np.asarray(outputs, dtype=np.float64).reshape(len(outputs), -1)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        self.x_offset_, self.x_scale_ = _input_scale(inputs, self.input_scaling)
        self.y_mean_, self.y_scale_ = standardisation(outputs)
        self.X_train_ = self.scale_inputs(inputs)
        scaled = (outputs - self.y_mean_) / self.y_scale_
        self._fit_hyperparameters(scaled, labels, rng)
        result = solve(
            self._system(),
            scaled,
            self.solver,
            tol=self.tol,
            block_size=self.block_size,
            max_passes=self.max_passes,
            random_state=rng,
            callback=self._report,
        )
        self.solve_result_ = result
        self.coef_ = result.coef

    def predict(self, X: npt.ArrayLike, return_std: bool = False) -> Float64Array | tuple[Float64Array, Float64Array]:
        """Return the predictive mean, and on request its standard deviation.

        Parameters
        ----------
        X : array (t, d)
        return_std : bool
            Also return the standard deviation of the latent function (the noise not included).

        Returns
        -------
        mean : array (t,) or (t, q)
        std : array (t,) or (t, q)
            In the units of each output; zero for a constant one.
        """
        check_is_fitted(self, "coef_")
        inputs = validate_data(self, X, dtype=np.float64, reset=False, ensure_all_finite=False)
        require_finite(inputs, "X")
        points = self.scale_inputs(inputs)
        product = kernel_product(self.kernel_, points, self.X_train_, self.coef_, self.X_train_.mean(axis=0))
        mean = self._shaped(product * self.y_scale_ + self.y_mean_)
        if not return_std:
            return mean
        variance = predictive_variance(self._system(), points, random_state=0, tol=self.tol)
        varying = (self.coef_ != 0).any(axis=0)
        return mean, self._shaped(np.sqrt(variance)[:, None] * np.where(varying, self.y_scale_, 0.0))

    def scale_inputs(self, X: Float64Array) -> Float64Array:
        """Return X (t, d) as the kernel takes it, for other models that share kernel and noise."""
        scaled: Float64Array = (X - self.x_offset_) / self.x_scale_
        return scaled

    def get_state(self) -> dict[str, Any]:
        """Return what prediction needs as plain arrays, numbers and strings, for a file store.

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
            "X_train": self.X_train_,
            "coef": self.coef_,
            "x_offset": self.x_offset_,
            "x_scale": self.x_scale_,
            "y_mean": self.y_mean_,
            "y_scale": self.y_scale_,
            "flat": bool(self._flat),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], **parameters: Any) -> GBCDRegressor:
        """Rebuild a fitted regressor from `get_state`; its predictions are the same.

        Parameters
        ----------
        state : dict
        **parameters
            Constructor parameters, e.g. the memory budget for standard deviations.
        """
        model = cls(**parameters)
        model.kernel_ = SquaredExponential(state["gamma"])
        model.noise_ = float(state["noise"])
        model.hyperparameters_ = None
        model._flat = bool(state["flat"])
        for name in ("X_train", "coef", "x_offset", "x_scale", "y_mean", "y_scale"):
            setattr(model, f"{name}_", np.ascontiguousarray(state[name], dtype=np.float64))
        model.n_features_in_ = model.X_train_.shape[1]
        return model

    def _fit_hyperparameters(self, scaled: Float64Array, groups: IntArray | None, rng: np.random.Generator) -> None:
        noise = None if self.noise is None else positive_number(self.noise, "noise")
        given = isinstance(self.kernel, Kernel) or self.gamma is not None
        if isinstance(self.kernel, Kernel) and self.gamma is not None:
            raise ValueError("gamma must be None when a Kernel is given: the kernel has its own.")
        if given and noise is not None:
            self.kernel_: Kernel = self._given_kernel()
            self.noise_ = noise
            self.hyperparameters_: HyperparameterFit | None = None
            return
        fit = fit_hyperparameters(
            self.X_train_,
            scaled,
            kernel=self._given_kernel() if given else self.kernel,
            subset=self.subset,
            groups=groups,
            objective=self.hyperparameter_objective,
            random_state=rng,
            noise=noise,
            fit_kernel=not given,
        )
        self.kernel_, self.noise_, self.hyperparameters_ = fit.kernel, fit.noise, fit

    def _given_kernel(self) -> Kernel:
        if isinstance(self.kernel, Kernel):
            return self.kernel
        assert self.gamma is not None
        return SquaredExponential(self.gamma)

    def _system(self) -> KernelSystem:
        return KernelSystem(self.X_train_, self.kernel_, self.noise_, self.memory_budget, self.precision)

    def _shaped(self, outputs: Float64Array) -> Float64Array:
        return outputs[:, 0] if self._flat else outputs

    def _report(self, entry: TraceEntry) -> bool | None:
        if self.verbose:
            print(
                f"iteration {entry.iteration}: gradient {entry.gradient_norm:.3g}, objective {entry.objective:.6g}, "
                f"{entry.kernel_evaluations:.3g} kernel evaluations, {entry.seconds:.1f} s",
                file=sys.stderr,
            )
        return self.callback(entry) if self.callback is not None else None


def _name_bad_outputs(y: npt.ArrayLike) -> None:
    """Refuse NaN and infinity in y by row and column, before scikit-learn does without; leave the rest to it."""
    values = np.asarray(y)
    if values.dtype.kind == "f" and values.ndim in (1, 2):
        require_finite(values, "y")


def _input_scale(X: Float64Array, scaling: str | None) -> tuple[Float64Array, Float64Array]:
    """Return offset and scale (d,) of the inputs; a constant column keeps scale 1."""
    d = X.shape[1]
    if scaling is None:
        return np.zeros(d), np.ones(d)
    if scaling == "column":
        return standardisation(X)
    if scaling == "global":
        return np.zeros(d), np.full(d, standardisation(X.reshape(-1, 1))[1])
    raise ValueError(f"input_scaling must be 'column', 'global' or None, not {scaling!r}.")
