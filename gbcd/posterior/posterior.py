"""The posterior of a solved Gaussian process, prepared once: means and variances at new, unscaled inputs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Literal

import numpy as np

from gbcd.kernels.base import Kernel
from gbcd.posterior.nearest_neighbours import LocalVariances
from gbcd.posterior.training_features import TrainingFeatures
from gbcd.posterior.variance import Variances
from gbcd.scaling import Scaling
from gbcd.system.kernel_matrix import feature_product
from gbcd.system.kernel_system import KernelSystem
from gbcd.system.precision import Precision
from gbcd.types import Float64Array


class Posterior:
    """Means and variances of a solved system at new inputs, which are scaled here and nowhere else.

    Parameters
    ----------
    X : array (n, d)
        Training inputs, as scaled for the kernel.
    kernel : Kernel
    noise : float
        sigma^2.
    coef : array (n, q)
        alpha, of the standardised outputs.
    scaling : Scaling
        What inputs and outputs were scaled by.

    Attributes
    ----------
    features : TrainingFeatures
        Features of X, shared by the means and the variances from the nearest samples.

    Notes
    -----
    Each part is prepared when it is first asked for, and kept. Exact variances have features of their own, in the
    precision and the order of their system. Variances are those of standardised outputs of unit amplitude, the noise
    not included.
    """

    def __init__(self, X: Float64Array, kernel: Kernel, noise: float, coef: Float64Array, scaling: Scaling) -> None:
        self.noise = noise
        self.coef = coef
        self.scaling = scaling
        self.features = TrainingFeatures(X, kernel)
        self._variances: Variances | None = None

    @cached_property
    def mean_features(self) -> TrainingFeatures:
        """Features for means: `features`, unless inputs are so far apart that squared distances would cancel."""
        features = self.features
        kernel = features.kernel.for_inputs(features.X, features.origin)
        return features if kernel is features.kernel else TrainingFeatures(features.X, kernel)

    @cached_property
    def neighbours(self) -> LocalVariances:
        """Variances from the nearest samples, at scaled inputs."""
        return LocalVariances(self.features.X, self.features.kernel, self.noise, features=self.features)

    def mean(self, X: Float64Array) -> Float64Array:
        """Return the means (t, q) at inputs X (t, d) in float64, in the units of the outputs."""
        features = self.mean_features
        columns = features.columns(np.float64)
        points = self.scaling.inputs(X)
        product = feature_product(features.kernel, points, columns, self.coef, features.origin)
        return self.scaling.in_units(product)

    def neighbour_variances(self, X: Float64Array) -> Float64Array:
        """Return estimates of the variances (t,) at inputs X (t, d), each from its nearest samples."""
        return self.neighbours.at(self.scaling.inputs(X))

    def exact_variances(
        self,
        X: Float64Array,
        memory_budget: int | Literal["auto"] = "auto",
        precision: Precision = "mixed",
        progress: Callable[[int, int], None] | None = None,
    ) -> Float64Array:
        """Return the variances (t,) of eq. 2 at inputs X (t, d).

        Parameters
        ----------
        X : array (t, d)
        memory_budget, precision
            Of the `KernelSystem` that the first call makes for all later calls.
        progress : callable, optional
            Called with the numbers of points done and of all, before the first batch and after each.
        """
        if self._variances is None:
            system = KernelSystem(self.features.X, self.features.kernel, self.noise, memory_budget, precision)
            self._variances = Variances(system, random_state=0)
        return self._variances.at(self.scaling.inputs(X), progress)
