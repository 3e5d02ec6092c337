"""Regression problems drawn from formulas, at any size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pose.types import FloatArray

JOINTS = 8
ARM_NOISE = 0.03
ARM_TARGET = (0.4, 0.2, 0.1)
MANY_OUTPUTS = 45
"""Number of outputs, that of a pose of 15 joints."""

Clean = Callable[[FloatArray], FloatArray]
"""Function from inputs (n, d) to outputs (n, q) without noise."""


@dataclass(frozen=True)
class Simulated:
    """A problem drawn from a formula.

    Attributes
    ----------
    inputs : callable
        Takes a generator and n; returns inputs (n, d).
    outputs : callable
        Takes a generator, which fixes the function, and returns the function.
    noise_of : callable
        Takes noise-free outputs (n, q); returns the standard deviations (q,) of the noise added to them.
    gamma, noise
        The kernel's gamma, (d,) or one for all inputs, and sigma^2, both for standardised inputs and outputs.
    """

    inputs: Callable[[np.random.Generator, int], FloatArray]
    outputs: Callable[[np.random.Generator], Clean]
    noise_of: Callable[[FloatArray], FloatArray]
    gamma: tuple[float, ...] | float
    noise: float


def friedman1(X: FloatArray, weights: FloatArray) -> FloatArray:
    """Friedman's first function of inputs (n, 10), of which five matter, with weights (4, q) of its terms.

    References
    ----------
    Friedman (1991), "Multivariate adaptive regression splines", Annals of Statistics 19.
    """
    terms = [np.sin(np.pi * X[:, 0] * X[:, 1]), (X[:, 2] - 0.5) ** 2, X[:, 3], X[:, 4]]
    return np.stack(terms, axis=1) @ weights


def arm_tip(angles: FloatArray) -> FloatArray:
    """Return the tip (n, 3) of an arm whose revolute joints have these angles (n, joints).

    Links are 1 / joints long. Each joint's axis is turned by 90 degrees against that of the joint before, alternately
    to either side. At zero angles the arm lies straight along x.
    """
    n, joints = angles.shape
    x, y, z = np.zeros(n), np.zeros(n), np.zeros(n)
    # From the tip inwards: transform the point from one joint's frame into that of the joint before.
    for joint in range(joints - 1, -1, -1):
        side = 1 - 2 * (joint % 2)
        x, y, z = x + 1 / joints, -side * z, side * y
        cosine, sine = np.cos(angles[:, joint]), np.sin(angles[:, joint])
        x, y = cosine * x - sine * y, sine * x + cosine * y
    return np.stack([x, y, z], axis=1)


def _arm(X: FloatArray) -> FloatArray:
    distances: FloatArray = np.linalg.norm(arm_tip(X) - ARM_TARGET, axis=1, keepdims=True)
    return distances


def _unit_cube(rng: np.random.Generator, n: int) -> FloatArray:
    return rng.random((n, 10))


def _friedman1_alone(rng: np.random.Generator) -> Clean:  # noqa: ARG001 - one signature for all
    return lambda X: friedman1(X, np.array([[10.0], [20.0], [10.0], [5.0]]))


def _friedman1_variants(rng: np.random.Generator) -> Clean:
    weights = np.array([[10.0], [20.0], [10.0], [5.0]]) * rng.uniform(0.5, 1.5, (4, MANY_OUTPUTS))
    return lambda X: friedman1(X, weights)


# Parameters fitted by marginal likelihood on 2,000 standardised samples; five of Friedman's inputs do not matter.
_FRIEDMAN1_GAMMA = (0.130502, 0.148834, 0.0672212, 0.0173893, 0.00753965, 1e-6, 0.000115977, 1e-6, 1e-6, 1e-6)
_FRIEDMAN1_NOISE = 0.0426459
_FRIEDMAN1_WIDTH, _FRIEDMAN1_WIDTH_NOISE = 0.0490333, 0.0402185
_ARM8_GAMMA = (0.396343, 0.166557, 0.188478, 0.156417, 0.132185, 0.119694, 0.0811787, 0.0416908)
_ARM8_NOISE = 0.00341622

SIMULATED = {
    "friedman1": Simulated(
        _unit_cube, _friedman1_alone, lambda Y: np.ones(Y.shape[1]), _FRIEDMAN1_GAMMA, _FRIEDMAN1_NOISE
    ),
    # With one width for all inputs, as in the paper, inputs that do not matter count as much as the others.
    "friedman1_isotropic": Simulated(
        _unit_cube, _friedman1_alone, lambda Y: np.ones(Y.shape[1]), _FRIEDMAN1_WIDTH, _FRIEDMAN1_WIDTH_NOISE
    ),
    # Each output has weights of its own; smoothness, noise and the inputs that matter are those of friedman1.
    "friedman1_45": Simulated(
        _unit_cube, _friedman1_variants, lambda Y: np.ones(Y.shape[1]), _FRIEDMAN1_GAMMA, _FRIEDMAN1_NOISE
    ),
    # Smooth and with little noise: hard for iterative solvers.
    "arm8": Simulated(
        lambda rng, n: rng.uniform(-np.pi / 2, np.pi / 2, (n, JOINTS)),
        lambda rng: _arm,  # noqa: ARG005
        lambda Y: ARM_NOISE * Y.std(axis=0),
        _ARM8_GAMMA,
        _ARM8_NOISE,
    ),
}
