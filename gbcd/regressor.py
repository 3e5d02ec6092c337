"""`GBCDRegressor`: exact Gaussian process regression as a scikit-learn estimator."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gbcd.base import GPEstimator, Prediction, stored_array
from gbcd.checkpoint import Checkpoint
from gbcd.hyperparameters.request import HyperparameterRequest, find_hyperparameters
from gbcd.hyperparameters.search import Objective
from gbcd.kernels.base import Kernel
from gbcd.memory_budget import budget_bytes
from gbcd.posterior.draws import posterior_deviations
from gbcd.posterior.posterior import Posterior
from gbcd.progress.result import SolveResult
from gbcd.progress.trace import Callback
from gbcd.scaling import InputScaling
from gbcd.solvers import get_solver, solve
from gbcd.solvers.registry import DEFAULT_CHECKPOINT_SECONDS, check_options
from gbcd.system.kernel_system import KernelSystem
from gbcd.system.precision import Precision, check_precision
from gbcd.threads import thread_count, worker_limit
from gbcd.training_data import TrainingData, new_inputs
from gbcd.types import Float64Array
from gbcd.validation import positive_integer
from gbcd.verbose import ProgressLines


class GBCDRegressor(GPEstimator):
    """Exact Gaussian process regression: a coarse block of columns, then preconditioned, conjugate full-vector steps.

    It converges globally, as the paper's greedy block coordinate descent does, and its choice of the coarse block is
    greedy: see `gbcd.solve`.

    Outputs are standardised per column. A constant column is left out of the likelihood, and predicted as exactly its
    value. All outputs share one gamma (one for each input with ARD), one noise and one coarse block; each has an
    amplitude of its own. Outputs that vary on different scales of the inputs are better fitted one by one.

    Parameters
    ----------
    kernel : {"ard", "isotropic"} or Kernel
        "ard" has one gamma for each input, "isotropic" one for all. A `Kernel` is used as it is; `gamma` must then be
        None.
    gamma : float or array (d,), optional
        gamma in exp(-sum_l gamma_l (x_l - x'_l)^2) on the scaled inputs. For scikit-learn's RBF it is
        1 / (2 length_scale^2). Fitted when None.
    noise : float, optional
        sigma^2 of the standardised outputs, for a kernel of unit amplitude. Fitted when None, together with the
        amplitude of each output.
    input_scaling : {"column", "global"} or None
        "column" standardises every input. "global" divides all inputs by one number, which keeps their proportions
        (histograms). None takes them as they are.
    tol : float
        Largest infinity norm of the gradient, for standardised outputs, at which the solver stops.
    block_size : int, optional
        m, the number of variables in a greedy block; 500 by default, at most n.
    solver : str
        A name that `gbcd.solve` knows.
    memory_budget : int or "auto"
        Bytes that may be held for kernel values.
    precision : {"mixed", "float64"}
        Precision of kernel values: "mixed" takes float32 where noise and inputs allow. Residuals are checked in float64
        in either case.
    subset : int
        Number of random rows on which the hyperparameters are fitted, at most n.
    hyperparameter_objective : {"marginal", "leave_group_out"}
        "leave_group_out" needs `groups` in `fit` (with scikit-learn's cross_val_score:
        ``params={"groups": groups}``).
    max_passes : float
        Limit of the solve in passes over the kernel matrix, see `gbcd.solve`.
    random_state : int, RandomState or None
    verbose : bool
        Print the progress of fits, standard deviations and draws to stderr, at most two lines a second.
    callback : callable, optional
        Gets a `gbcd.TraceEntry` after every iteration; returning True stops.
    max_time : float, optional
        Seconds that the solve may take, not counting the search for hyperparameters, see `gbcd.solve`.
    warm_start : bool
        Start the next `fit` from the present `coef_`, where the numbers of rows and outputs are the same.
    checkpoint : path, optional
        An .npz file that keeps the hyperparameters and coefficients of a fit that is killed or stops short. The next
        fit on the same data continues from it, and deletes it on convergence. One file serves one fit at a time.
    checkpoint_seconds : float
        Seconds between two writings of the checkpoint.
    n_jobs : int, optional
        Threads of fit and prediction. -1 and None are all cores; but inside joblib (GridSearchCV with its own n_jobs)
        None is this worker's share of the cores.
    amplitude : float or array (q,), optional
        c^2, see `amplitude_`. None: fitted together with the noise, or 1 where `noise` is given.

    Attributes
    ----------
    kernel_ : Kernel
    noise_ : float
        sigma^2, which is added to K's diagonal: the noise variance divided by the amplitude, one number for all
        outputs. In the outputs' own units the noise variance is `noise_ * amplitude_ * y_scale_**2`.
    amplitude_ : array (q,)
        c^2: standardised output j has the covariance amplitude_[j] (K + noise_ I). It scales deviations, not the
        mean. scikit-learn's ConstantKernel(c2) * RBF(l) + WhiteKernel(s2) corresponds to gamma = 1 / (2 l^2),
        noise = s2 / c2, amplitude = c2.
    coef_ : array (n, q)
        alpha, the coefficients of the standardised outputs.
    X_train_ : array (n, d)
        The scaled training inputs.
    x_offset_, x_scale_ : array (d,)
        The kernel takes inputs as (x - x_offset_) / x_scale_.
    y_mean_, y_scale_ : array (q,)
        The solver takes outputs as (y - y_mean_) / y_scale_.
    posterior_ : Posterior
        The prepared posterior, which all predictions share.
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

    _basis = "X_train"

    X_train_: Float64Array
    posterior_: Posterior
    solve_result_: SolveResult

    def __init__(
        self,
        kernel: str | Kernel = "ard",
        *,
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
        self.tol = tol
        self.block_size = block_size
        self.solver = solver
        self.memory_budget = memory_budget
        self.precision = precision
        self.max_passes = max_passes
        self.verbose = verbose
        self.callback = callback
        self.max_time = max_time
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.checkpoint_seconds = checkpoint_seconds
        self.amplitude = amplitude

    def _check_parameters(self) -> None:
        get_solver(self.solver)  # a name: the random state goes to the solver with it
        check_options(self.solver, self.tol, self.block_size, self.max_passes, self.max_time, self.checkpoint_seconds)
        check_precision(self.precision)
        budget_bytes(self.memory_budget)

    def _request(self) -> HyperparameterRequest:
        return replace(super()._request(), amplitude=self.amplitude)

    def _fit(self, data: TrainingData, request: HyperparameterRequest, rng: np.random.Generator) -> dict[str, Any]:
        checkpoint = None if self.checkpoint is None else Checkpoint(self.checkpoint)
        lines = ProgressLines(self.verbose, self.callback, self.tol)
        if checkpoint is not None and checkpoint.path.exists():
            lines.say(f"found the checkpoint {checkpoint.path} of an earlier fit")
        if request.is_search:
            lines.say(f"hyperparameters: searching on up to {min(self.subset, len(data.Y)):,} rows")
        found = find_hyperparameters(request, data, rng, checkpoint)
        if found.fit is not None:
            lines.search(found.fit)
        lines.say(f"{found.kernel!r}, noise {found.noise:.3g}")
        result = solve(
            KernelSystem(data.X, found.kernel, found.noise, self.memory_budget, self.precision),
            data.Y,
            self.solver,
            tol=self.tol,
            block_size=self.block_size,
            max_passes=self.max_passes,
            random_state=rng,
            callback=lines,
            coef_init=self._start(data.Y.shape),
            max_time=self.max_time,
            checkpoint=checkpoint,
            checkpoint_seconds=self.checkpoint_seconds,
        )
        lines.finish(result)
        return self._common(data.scaling, found, data.flat) | {
            "X_train_": data.X,
            "coef_": result.coef,
            "posterior_": Posterior(data.X, found.kernel, found.noise, result.coef, data.scaling),
            "solve_result_": result,
        }

    def _start(self, shape: tuple[int, ...]) -> Float64Array | None:
        """Return the last fit's coefficients, if `warm_start` is set and they have this shape, else None."""
        previous: Float64Array | None = getattr(self, "coef_", None) if self.warm_start else None
        return previous if previous is not None and previous.shape == shape else None

    def predict(
        self,
        X: npt.ArrayLike,
        return_std: bool = False,
        include_noise: bool = False,
        variance: Literal["exact", "fast"] = "exact",
    ) -> Prediction:
        """Return the predictive mean, and on request its standard deviation.

        Parameters
        ----------
        X : array (t, d)
        return_std : bool
            Also return the standard deviation of the latent function, the noise not included.
        include_noise : bool
            Return the standard deviation of a new observation instead: sqrt(std^2 + noise_ amplitude_ y_scale_^2).
        variance : {"exact", "fast"}
            "fast" estimates each variance from the nearest training samples, in milliseconds. It suits inputs of many
            columns, see `LocalVariances`.

        Returns
        -------
        mean : array (t,) or (t, q)
        std : array (t,) or (t, q)
            In the units of each output; zero for a constant output.
        """
        if variance not in ("exact", "fast"):
            raise ValueError(f"variance must be 'exact' or 'fast', not {variance!r}.")
        return self._predict(X, return_std, include_noise, self._fast if variance == "fast" else self._exact)

    def _mean(self, X: Float64Array) -> Float64Array:
        return self.posterior_.mean(X)

    def _fast(self, X: Float64Array) -> Float64Array:
        return self.posterior_.neighbour_variances(X)

    def _exact(self, X: Float64Array) -> Float64Array:
        lines = ProgressLines(self.verbose, None)
        report = lines.deviations if self.verbose else None
        return self.posterior_.exact_variances(X, self.memory_budget, self.precision, report)

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
            Values of the latent function, without noise. Outputs are drawn independently. Draws of a constant output
            are its value.

        Notes
        -----
        Each draw takes one linear solve. Beyond 4,000 training and new points together the prior is approximated, see
        `gbcd.posterior_deviations`.
        """
        check_is_fitted(self, "coef_")
        inputs = new_inputs(self, X)
        q = self.coef_.shape[1]
        seed = check_random_state(random_state).randint(2**31)
        draws = positive_integer(n_samples, "n_samples")
        with worker_limit(thread_count(self.n_jobs)):
            mean = self._mean(inputs)
            system = KernelSystem(self.X_train_, self.kernel_, self.noise_, self.memory_budget, self.precision)
            deviations = posterior_deviations(
                system,
                self.scale_inputs(inputs),
                q * draws,
                seed,
                solver=self.solver,
                tol=self.tol,
                callback=ProgressLines(self.verbose, None, self.tol),
            )
        shaped = deviations.reshape(len(deviations), q, draws) * self._deviation_scale()[:, None]
        samples: Float64Array = mean[:, :, None] + shaped
        return samples[:, 0] if self._flat else samples

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle, without the posterior, which is rebuilt from the other attributes."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "posterior_"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled model."""
        super().__setstate__(state)
        if "coef_" in state:
            self._set_posterior()

    def _own_state(self) -> dict[str, npt.NDArray[Any]]:
        return {"X_train": self.X_train_, "coef": self.coef_}

    def _restore(self, state: dict[str, Any]) -> None:
        self.X_train_ = stored_array(state["X_train"])
        self.coef_ = stored_array(state["coef"])
        self._set_posterior()

    def _set_posterior(self) -> None:
        self.posterior_ = Posterior(self.X_train_, self.kernel_, self.noise_, self.coef_, self._scaling)
