"""Kernel and noise of a regressor: given, found in a checkpoint, or fitted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gbcd.checkpoint import Arrays, Checkpoint, fingerprint
from gbcd.hyperparameters.search import HyperparameterFit, Objective, check_names, fit_hyperparameters
from gbcd.kernels.base import Kernel
from gbcd.kernels.squared_exponential import SquaredExponential
from gbcd.types import Float64Array, IntArray
from gbcd.validation import as_floats, positive_number

SECTION = "hyperparameters"


@dataclass(frozen=True)
class Request:
    """What the user asked for; see the parameters of `GBCDRegressor`."""

    kernel: str | Kernel
    gamma: npt.ArrayLike | None
    noise: float | None
    subset: int
    objective: Objective

    def __post_init__(self) -> None:
        check_names(self.kernel, self.subset, self.objective)
        if isinstance(self.kernel, Kernel) and self.gamma is not None:
            raise ValueError("gamma must be None when a Kernel is given: the kernel has its own.")
        if self.noise is not None:
            positive_number(self.noise, "noise")
        if self.gamma is not None:
            SquaredExponential(self.gamma)

    @property
    def is_search(self) -> bool:
        """Whether anything is left to fit."""
        return self.given is None or self.noise is None

    @property
    def given(self) -> Kernel | None:
        """The kernel, where it is not to be fitted."""
        if isinstance(self.kernel, Kernel):
            return self.kernel
        return None if self.gamma is None else SquaredExponential(self.gamma)


def find_hyperparameters(
    request: Request,
    X: Float64Array,
    Y: Float64Array,
    groups: IntArray | None,
    rng: np.random.Generator,
    checkpoint: Checkpoint | None,
    amplitude: Float64Array | None = None,
) -> tuple[Kernel, float, HyperparameterFit | None]:
    """Return kernel and noise, and the fit that found them if there was one.

    A fit is stored in the checkpoint at once, and taken from there when it is resumed.

    Parameters
    ----------
    request : Request
    X : array (n, d)
        Scaled.
    Y : array (n, q)
        Standardised.
    groups : int array (n,) or None
    rng : numpy.random.Generator
    checkpoint : Checkpoint or None
    amplitude : array (q,) or None
        Held, where it is given.
    """
    given = request.given
    if given is not None and request.noise is not None:  # not `is_search`, for the type checker
        return given, float(request.noise), None
    if amplitude is not None:
        Y = Y / np.sqrt(amplitude)  # whose covariance is K + noise I
    mark = "" if checkpoint is None else _fingerprint(request, X, Y, groups, amplitude)
    template = _template(request, X.shape[1])
    shapes = {
        "log_parameters": template.log_parameters.shape,
        "indices": (None,),
        "numbers": (5,),
        "amplitude": (Y.shape[1],),
    }
    held = None if checkpoint is None else checkpoint.load(SECTION, mark, shapes)
    if held is not None:
        fit = _restored(held, template)
        return fit.kernel, fit.noise, fit
    fit = fit_hyperparameters(
        X,
        Y,
        kernel=request.kernel if given is None else given,
        subset=request.subset,
        groups=groups,
        objective=request.objective,
        random_state=rng,
        noise=request.noise,
        fit_kernel=given is None,
        fit_amplitude=amplitude is None,
    )
    if amplitude is not None:
        fit = replace(fit, amplitude=amplitude)
    if checkpoint is not None:
        held = _stored(fit)
        checkpoint.store(SECTION, mark, held)
        # From the stored numbers here too: the resumed kernel must be this one to the last bit.
        fit = _restored(held, fit.kernel)
    return fit.kernel, fit.noise, fit


def given_amplitude(amplitude: npt.ArrayLike, n_outputs: int) -> Float64Array:
    """Return given amplitudes as (q,).

    Raises
    ------
    ValueError
        If they are not positive numbers, one for all outputs or one for each.
    """
    values = as_floats(amplitude, "amplitude")
    if values.shape not in ((), (n_outputs,)) or not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError(f"amplitude must be a positive number, or {n_outputs} of them, one for each output.")
    return np.full(n_outputs, values)


def stored_amplitude(state: dict[str, Any]) -> Float64Array:
    """Return the amplitudes (q,) of a stored model; older ones have none, which is 1."""
    return np.ascontiguousarray(state.get("amplitude", np.ones(state["coef"].shape[1])), dtype=np.float64)


def fitted_amplitude(fit: HyperparameterFit | None, n_outputs: int) -> Float64Array:
    """Return the amplitudes (q,): 1 where nothing was fitted."""
    return np.ones(n_outputs) if fit is None else fit.amplitude


def _fingerprint(
    request: Request, X: Float64Array, Y: Float64Array, groups: IntArray | None, amplitude: Float64Array | None
) -> str:
    given = request.given
    kernel = request.kernel if isinstance(request.kernel, str) else type(request.kernel).__qualname__
    parameters = None if given is None else given.log_parameters
    return fingerprint(X, Y, groups, kernel, parameters, request.noise, request.subset, request.objective, amplitude)


def _template(request: Request, d: int) -> Kernel:
    """Return a kernel of the kind that is fitted, whatever its parameters."""
    return request.given or SquaredExponential(1.0 if request.kernel == "isotropic" else np.ones(d))


def _stored(fit: HyperparameterFit) -> Arrays:
    return {
        "log_parameters": fit.kernel.log_parameters,
        "indices": fit.indices,
        "numbers": np.array([fit.noise, fit.value, fit.n_iter, fit.seconds, fit.n_evaluations]),
        "amplitude": fit.amplitude,
    }


def _restored(held: Arrays, kernel: Kernel) -> HyperparameterFit:
    noise, value, n_iter, seconds, n_evaluations = (float(number) for number in held["numbers"])
    return HyperparameterFit(
        kernel.with_log_parameters(held["log_parameters"]),
        noise,
        value,
        int(n_iter),
        held["indices"],
        seconds,
        held["amplitude"],
        int(n_evaluations),
    )
