"""Kernel and noise of a regressor: given, found in a checkpoint, or fitted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gbcd.checkpoint import Arrays, Checkpoint, fingerprint
from gbcd.hyperparameters.search import HyperparameterFit, Objective, check_names, fit_hyperparameters
from gbcd.kernels.base import Kernel
from gbcd.kernels.squared_exponential import SquaredExponential
from gbcd.training_data import TrainingData
from gbcd.types import Float64Array
from gbcd.validation import as_floats, positive_number

SECTION = "hyperparameters"
"""Name of the section of a checkpoint that holds the hyperparameters."""


class Hyperparameters(NamedTuple):
    """Kernel, noise and amplitudes of a regressor.

    Standardised output j has the covariance amplitude_j (K + noise I).
    """

    kernel: Kernel
    noise: float
    amplitude: Float64Array
    """c^2 of each output (q,)."""

    fit: HyperparameterFit | None
    """The search for the hyperparameters; None where kernel and noise were given."""


@dataclass(frozen=True)
class HyperparameterRequest:
    """The hyperparameters that a user gives or asks for; see the parameters of `GBCDRegressor`."""

    kernel: str | Kernel
    gamma: npt.ArrayLike | None
    noise: float | None
    subset: int
    objective: Objective
    amplitude: npt.ArrayLike | None = None

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
        return self.given_kernel is None or self.noise is None

    @property
    def given_kernel(self) -> Kernel | None:
        """The kernel, where it is not to be fitted."""
        if isinstance(self.kernel, Kernel):
            return self.kernel
        return None if self.gamma is None else SquaredExponential(self.gamma)

    def given_amplitude(self, n_outputs: int) -> Float64Array | None:
        """Return the amplitudes (q,), where they are not to be fitted.

        Raises
        ------
        ValueError
            If they are not positive numbers, one for all outputs or one for each.
        """
        if self.amplitude is None:
            return None
        values = as_floats(self.amplitude, "amplitude")
        if values.shape not in ((), (n_outputs,)) or not (np.isfinite(values).all() and (values > 0).all()):
            raise ValueError(f"amplitude must be a positive number, or {n_outputs} of them, one for each output.")
        return np.full(n_outputs, values)


def find_hyperparameters(
    request: HyperparameterRequest, data: TrainingData, rng: np.random.Generator, checkpoint: Checkpoint | None = None
) -> Hyperparameters:
    """Return the hyperparameters: those given, and those that a search finds.

    A search is stored in the checkpoint at once, and taken from there when the fit is resumed.

    Raises
    ------
    ValueError
        For amplitudes that do not suit the outputs, or a checkpoint that is damaged or of another fit.
    """
    amplitude = request.given_amplitude(data.Y.shape[1])
    given = request.given_kernel
    if given is not None and request.noise is not None:  # not `is_search`, for the type checker
        return Hyperparameters(given, float(request.noise), _or_ones(amplitude, data.Y.shape[1]), None)
    # The outputs in units of their amplitudes, with the covariance K + noise I.
    targets = data.Y if amplitude is None else data.Y / np.sqrt(amplitude)
    mark = "" if checkpoint is None else _fingerprint(request, data, targets, amplitude)
    template = _template(request, data.X.shape[1])
    held = None if checkpoint is None else checkpoint.load(SECTION, mark, _shapes(template, data.Y.shape[1]))
    if held is not None:
        fit = _restored(held, template)
        return Hyperparameters(fit.kernel, fit.noise, fit.amplitude, fit)
    fit = fit_hyperparameters(
        data.X,
        targets,
        kernel=request.kernel if given is None else given,
        subset=request.subset,
        groups=data.groups,
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
        # Rebuilt from the stored numbers, so that a resumed fit has this kernel to the last bit.
        fit = _restored(held, fit.kernel)
    return Hyperparameters(fit.kernel, fit.noise, fit.amplitude, fit)


def _or_ones(amplitude: Float64Array | None, n_outputs: int) -> Float64Array:
    return np.ones(n_outputs) if amplitude is None else amplitude


def _fingerprint(
    request: HyperparameterRequest, data: TrainingData, targets: Float64Array, amplitude: Float64Array | None
) -> str:
    given = request.given_kernel
    kernel = request.kernel if isinstance(request.kernel, str) else type(request.kernel).__qualname__
    parameters = None if given is None else given.log_parameters
    return fingerprint(
        data.X, targets, data.groups, kernel, parameters, request.noise, request.subset, request.objective, amplitude
    )


def _template(request: HyperparameterRequest, d: int) -> Kernel:
    """Return a kernel of the kind that is fitted, whatever its parameters."""
    return request.given_kernel or SquaredExponential(1.0 if request.kernel == "isotropic" else np.ones(d))


def _shapes(template: Kernel, n_outputs: int) -> dict[str, tuple[int | None, ...]]:
    """Return the shapes of what is stored; None is any length."""
    return {
        "log_parameters": template.log_parameters.shape,
        "indices": (None,),
        "numbers": (5,),
        "amplitude": (n_outputs,),
    }


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
