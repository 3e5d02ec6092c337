"""`GBCDRegressor`: exact Gaussian process regression as a scikit-learn estimator."""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gbcd.checkpoint import Checkpoint
from gbcd.hyperparameters.request import (
    Request,
    find_hyperparameters,
    fitted_amplitude,
    given_amplitude,
    stored_amplitude,
)
from gbcd.hyperparameters.search import Objective
from gbcd.kernels.base import Kernel
from gbcd.kernels.squared_exponential import SquaredExponential
from gbcd.memory_budget import budget_bytes
from gbcd.posterior.draws import posterior_deviations
from gbcd.posterior.nearest_neighbours import LocalVariances
from gbcd.posterior.variance import Variances
from gbcd.progress.trace import Callback
from gbcd.progress_lines import ProgressLines
from gbcd.scaling import InputScaling, centre, input_scale, scaled, standardisation
from gbcd.solvers import solve
from gbcd.solvers.registry import DEFAULT_CHECKPOINT_SECONDS, check_options
from gbcd.system.kernel_system import KernelSystem, Precision, check_precision
from gbcd.system.tiles import kernel_product
from gbcd.threads import thread_count, worker_limit
from gbcd.training_data import new_inputs, refuse_weights, training_data
from gbcd.types import Float64Array
from gbcd.validation import group_labels, positive_integer


class GBCDRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Exact Gaussian process regression: a coarse block of columns, then preconditioned, conjugate full-vector steps.

    It converges globally, as the paper's greedy block coordinate descent does, and its choice of the coarse block is
    greedy: see `gbcd.solve`.

    Outputs are standardised per column (a constant column is left out of the likelihood and predicted as
    its value, exactly). One gamma (one for each input with ARD), one noise and one active set serve all of them; only
    the amplitudes are their own. Outputs that vary on different scales of the inputs are better fitted one by one.

    Parameters
    ----------
    kernel : {"ard", "isotropic"} or Kernel
        A `Kernel` is used as it is, `gamma` must then be None.
    gamma : float or array (d,), optional
        Of exp(-sum_l gamma_l (x_l - x'_l)^2) on the scaled inputs, which is 1 / (2 length_scale^2) of
        scikit-learn's RBF; fitted when None.
    noise : float, optional
        sigma^2 of the standardised outputs, for a kernel of unit amplitude; fitted when None, and then an amplitude of
        each output with it.
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
        Print the course of the fit, and of standard deviations and draws, to stderr, at most two lines a second.
    callback : callable, optional
        Gets a `gbcd.TraceEntry` after every iteration; returning True stops.
    max_time : float, optional
        Seconds the solve may take (the fit of the hyperparameters not counted), see `gbcd.solve`.
    warm_start : bool
        Start the next `fit` from the present `coef_`, where the numbers of rows and outputs are the same.
    checkpoint : path, optional
        An .npz file in which a fit that is killed or stops short leaves its hyperparameters and coefficients; the
        next fit on the same data goes on from there, and deletes it on convergence. One file serves one fit at a
        time.
    checkpoint_seconds : float
        Between two writings of it.
    n_jobs : int, optional
        Threads of fit and prediction. -1 is all cores and so is None, except inside joblib (GridSearchCV with its own
        n_jobs), whose workers share the cores.
    amplitude : float or array (q,), optional
        c^2, see `amplitude_`. None: fitted together with the noise, 1 where `noise` is given.

    Attributes
    ----------
    kernel_ : Kernel
    noise_ : float
        What is added to K's diagonal, one for all outputs: the noise variance over the amplitude. In the outputs' own
        units it is `noise_ * amplitude_ * y_scale_**2`.
    amplitude_ : array (q,)
        c^2: standardised output j has the covariance amplitude_[j] (K + noise_ I). It scales deviations, not the
        mean. As given, else fitted together with the noise, else 1. scikit-learn's ConstantKernel(c2) * RBF(l) +
        WhiteKernel(s2) is gamma = 1 / (2 l^2), noise = s2 / c2, amplitude = c2.
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
        max_time: float | None = None,
        warm_start: bool = False,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_seconds: float = DEFAULT_CHECKPOINT_SECONDS,
        n_jobs: int | None = None,
        amplitude: npt.ArrayLike | None = None,
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
        self.max_time = max_time
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.checkpoint_seconds = checkpoint_seconds
        self.n_jobs = n_jobs
        self.amplitude = amplitude

    def fit(
        self, X: npt.ArrayLike, y: npt.ArrayLike, groups: npt.ArrayLike | None = None, **unsupported: Any
    ) -> GBCDRegressor:
        """Fit the hyperparameters that are not given, then solve for the coefficients.

        Parameters
        ----------
        X : array (n, d)
        y : array (n,) or (n, q)
        groups : int array (n,), optional
            Rows of one group are near-duplicates (e.g. a time block of a video): the hyperparameters are
            fitted with regard to that, see `fit_hyperparameters`. The coefficients use all rows alike.
        **unsupported
            Nothing else: `sample_weight` is refused.

        Returns
        -------
        GBCDRegressor
            Itself.

        Raises
        ------
        ValueError
            For NaN or infinity (naming row and column), shapes that do not match, parameters out of range, sample
            weights, or a checkpoint that is damaged or of another fit. After this or any other exception the model is
            as it was before.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            With the gradient norm that was reached, where that is above `tol`.
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
        # A wrong parameter is noticed before the minutes that hyperparameters take.
        check_options(self.solver, self.tol, self.block_size, self.max_passes, self.max_time, self.checkpoint_seconds)
        check_precision(self.precision)
        budget_bytes(self.memory_budget)
        request = Request(self.kernel, self.gamma, self.noise, self.subset, self.hyperparameter_objective)
        inputs, outputs = training_data(self, X, y)
        labels = None if groups is None else group_labels(groups, len(inputs))
        self._flat = outputs.ndim == 1
        outputs = outputs.reshape(len(outputs), -1)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        self.x_offset_, self.x_scale_ = input_scale(inputs, self.input_scaling)
        self.y_mean_, self.y_scale_ = standardisation(outputs)
        self.X_train_ = self.scale_inputs(inputs)
        targets = (outputs - self.y_mean_) / self.y_scale_
        checkpoint = None if self.checkpoint is None else Checkpoint(self.checkpoint)
        lines = ProgressLines(self.verbose, self.callback, self.tol)
        if checkpoint is not None and checkpoint.path.exists():
            lines.say(f"found the checkpoint {checkpoint.path} of an earlier fit")
        given = None if self.amplitude is None else given_amplitude(self.amplitude, targets.shape[1])
        if request.is_search:
            lines.say(f"hyperparameters: searching on up to {min(self.subset, len(targets)):,} rows")
        self.kernel_, self.noise_, self.hyperparameters_ = find_hyperparameters(
            request, self.X_train_, targets, labels, rng, checkpoint, given
        )
        self.amplitude_ = fitted_amplitude(self.hyperparameters_, targets.shape[1]) if given is None else given
        if self.hyperparameters_ is not None:
            lines.search(self.hyperparameters_)
        lines.say(f"{self.kernel_!r}, noise {self.noise_:.3g}")
        previous = getattr(self, "coef_", None) if self.warm_start else None
        start = previous if previous is not None and previous.shape == targets.shape else None
        result = solve(
            self._system(),
            targets,
            self.solver,
            tol=self.tol,
            block_size=self.block_size,
            max_passes=self.max_passes,
            random_state=rng,
            callback=lines,
            coef_init=start,
            max_time=self.max_time,
            checkpoint=checkpoint,
            checkpoint_seconds=self.checkpoint_seconds,
        )
        lines.finish(result)
        self.__dict__.pop("_variances", None)
        self.solve_result_ = result
        self.coef_ = result.coef

    def predict(
        self,
        X: npt.ArrayLike,
        return_std: bool = False,
        include_noise: bool = False,
        variance: Literal["exact", "fast"] = "exact",
    ) -> Float64Array | tuple[Float64Array, Float64Array]:
        """Return the predictive mean, and on request its standard deviation.

        Parameters
        ----------
        X : array (t, d)
        return_std : bool
            Also return the standard deviation of the latent function, the noise not included.
        include_noise : bool
            Make it that of a new observation instead: sqrt(std^2 + noise_ amplitude_ y_scale_^2).
        variance : {"exact", "fast"}
            "fast" takes milliseconds a point, from its nearest training samples, and suits inputs of many columns, see
            `LocalVariances`.

        Returns
        -------
        mean : array (t,) or (t, q)
        std : array (t,) or (t, q)
            In the units of each output; zero for a constant one.
        """
        check_is_fitted(self, "coef_")
        if variance not in ("exact", "fast"):
            raise ValueError(f"variance must be 'exact' or 'fast', not {variance!r}.")
        points = self.scale_inputs(new_inputs(self, X))
        with worker_limit(thread_count(self.n_jobs)):
            product = kernel_product(self.kernel_, points, self.X_train_, self.coef_, centre(self.X_train_))
            mean = self._shaped(product * self.y_scale_ + self.y_mean_)
            if not return_std:
                return mean
            values = self._latent_variances(points, variance)
        if include_noise:
            values = values + self.noise_
        return mean, self._shaped(np.sqrt(values)[:, None] * self._deviation_scale())

    def _latent_variances(self, points: Float64Array, variance: Literal["exact", "fast"]) -> Float64Array:
        """Return the variances (t,) of standardised outputs at scaled points (t, d); what they need is kept."""
        prepared = self.__dict__.setdefault("_variances", {})
        if variance == "fast":
            if variance not in prepared:
                prepared[variance] = LocalVariances(self.X_train_, self.kernel_, self.noise_)
            local: Float64Array = prepared[variance].at(points)
            return local
        if variance not in prepared:
            prepared[variance] = Variances(self._system(), random_state=0)
        lines = ProgressLines(self.verbose, None)
        exact: Float64Array = prepared[variance].at(points, lines.deviations if self.verbose else None)
        return exact

    def sample_y(
        self, X: npt.ArrayLike, n_samples: int = 1, random_state: int | np.random.RandomState | None = 0
    ) -> Float64Array:
        """Draw functions from the posterior, evaluated jointly at the rows of X, by pathwise conditioning.

        Parameters
        ----------
        X : array (t, d)
        n_samples : int
        random_state : int, RandomState or None

        Returns
        -------
        array (t, n_samples) or (t, q, n_samples)
            Of the latent function, the noise not included; outputs are drawn independently, a constant one is
            its value.

        Notes
        -----
        One linear solve a draw. Beyond 4,000 training and new points together the prior is approximated, see
        `gbcd.posterior_deviations`.
        """
        mean = self.predict(X)
        assert isinstance(mean, np.ndarray)
        points = self.scale_inputs(new_inputs(self, X))
        q = self.coef_.shape[1]
        seed = check_random_state(random_state).randint(2**31)
        draws = positive_integer(n_samples, "n_samples")
        with worker_limit(thread_count(self.n_jobs)):
            lines = ProgressLines(self.verbose, None, self.tol)
            deviations = posterior_deviations(
                self._system(), points, q * draws, seed, solver=self.solver, tol=self.tol, callback=lines
            )
        shaped = deviations.reshape(len(deviations), q, draws) * self._deviation_scale()[:, None]
        samples: Float64Array = mean.reshape(len(mean), q)[:, :, None] + shaped
        return samples[:, 0] if self._flat else samples

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle: without what `predict` prepares for standard deviations."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_variances"}

    def scale_inputs(self, X: Float64Array) -> Float64Array:
        """Return X (t, d) as the kernel takes it, for other models that share kernel and noise."""
        return scaled(X, self.x_offset_, self.x_scale_)

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
            "amplitude": self.amplitude_,
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
            One without ``amplitude`` is of a model with unit amplitudes.
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
        model.amplitude_ = stored_amplitude(state)
        model.n_features_in_ = model.X_train_.shape[1]
        return model

    def _deviation_scale(self) -> Float64Array:
        """Return the units of a deviation of each output (q,), in which k(x, x) is 1: zero for a constant output."""
        return np.where((self.coef_ != 0).any(axis=0), np.sqrt(self.amplitude_) * self.y_scale_, 0.0)

    def _system(self) -> KernelSystem:
        return KernelSystem(self.X_train_, self.kernel_, self.noise_, self.memory_budget, self.precision)

    def _shaped(self, outputs: Float64Array) -> Float64Array:
        return outputs[:, 0] if self._flat else outputs
