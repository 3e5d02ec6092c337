"""Forecasts of the seconds that each way to solve a system takes.

The figures are those of two cores with 8 GB/s of memory and 350 GFlop/s in float32. Only their ratios matter, and a
forecast that is wrong costs time, never accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gbcd.solvers.column_factor import forecast_norm_left
from gbcd.system.protocol import LinearSystem


class ByPrecision(NamedTuple):
    """A figure for float32 values and one for float64 values."""

    float32: float
    float64: float

    def of(self, dtype: np.dtype[Any]) -> float:
        """Return the figure for values of this type."""
        return self.float32 if dtype.itemsize == 4 else self.float64


@dataclass(frozen=True)
class CostModel:
    """Seconds and steps of the ways to solve a system, forecast from its size and what a coarse block leaves of K.

    Solvers that plan take another model in their constructor.
    """

    read_code_seconds_per_value: float = 1.1e-10
    """Seconds of a product with K for each of the n^2 values that is kept as a 16-bit code."""

    read_seconds_per_value: ByPrecision = ByPrecision(2.0e-10, 4.0e-10)
    """Seconds of a product with K for each of the n^2 values that is kept as a number."""

    evaluate_seconds_per_value: ByPrecision = ByPrecision(2.6e-10, 3.9e-10)
    """Seconds of a product with K for each of the n^2 values that is evaluated, beside those for the input columns."""

    evaluate_seconds_per_value_and_column: ByPrecision = ByPrecision(1.6e-11, 2.4e-11)
    """Seconds of a product with K for each of the n^2 values that is evaluated and each of the d input columns."""

    multiply_seconds_per_value_and_output: float = 2.2e-11
    """Seconds of a product with K for each of the n^2 values and each output beyond the first."""

    precondition_seconds_per_value: float = 6e-10
    """Seconds of P^-1 g for each value of L, for one output."""

    precondition_seconds_per_value_and_output: float = 5e-11
    """Seconds of P^-1 g for each value of L and each output beyond the first."""

    grow_seconds_per_row_and_rank_squared: ByPrecision = ByPrecision(1.3e-11, 2.6e-11)
    """Seconds of growing L and of its Gram matrix, for each n rank^2."""

    factor_seconds_per_row_cubed: ByPrecision = ByPrecision(1.25e-12, 2.4e-12)
    """Seconds of the Cholesky factorization of Kbar for each n^3."""

    factor_evaluations_per_value: float = 4.0
    """Time to fill the matrix and to evaluate one residual, in float64 evaluations for each of the n^2 values."""

    factor_at_once_seconds: float = 0.3
    """Forecast seconds of a direct solve below which "auto" takes it without a look at descent."""

    block_passes: float = 15.0
    """Passes over Kbar that greedy blocks need at `block_passes_rows` rows. The passes grow with sqrt(n), and hardly
    depend on the noise."""

    block_passes_rows: float = 5000.0
    """Rows at which greedy blocks need `block_passes` passes."""

    block_selection_seconds_per_value: float = 4e-9
    """Seconds of selecting greedy blocks for each value of a pass."""

    least_steps: float = 6.0
    """Full-vector steps to a tolerance of 1e-4, the part that does not depend on the preconditioner."""

    steps_per_root_of_rows: float = 11.0
    """Further full-vector steps at 10,000 rows where the mean Schur diagonal is as large as the noise."""

    steps_power: float = 0.75
    """Exponent with which the further steps grow with the mean Schur diagonal over the noise."""

    error_reduction: float = 5e4
    """Factor by which the steps must reduce the error, where the preconditioner leaves little of K."""

    min_norm_left: float = 1e-5
    """Smallest norm of K - L L', over the noise, in the forecast: smaller norms count as this."""

    shared_steps: float = 0.5
    """Part of the forecast steps that suffices where many outputs share their directions."""

    many_outputs: int = 8
    """Least number of outputs at which `shared_steps` applies."""

    coded_extra_steps: float = 2.2
    """Further steps with codes, as a part of the forecast steps, for each unit of their rounding over the noise."""

    restart_evaluations_per_value: float = 2.5
    """Time of the float64 residuals of a descent with codes, in tile-precision evaluations for each of the n^2
    values."""

    saving_per_gib: float = 0.25
    """Part of the time that each GiB of kept values must save; otherwise the memory is left to other programs."""

    min_saving: float = 0.05
    """Least part of the time that kept values must save, however few they are."""

    max_saving: float = 0.25
    """Largest part of the time that kept values must save, however many they are."""

    growth_factor: float = 1.25
    """Rank to which growth looks ahead, over the present rank."""

    tolerated_growth_cost: float = 1.15
    """Largest forecast at the rank ahead, over the forecast at the present rank, with which growth goes on. It is above
    1 since the optimum is flat and more columns mean fewer evaluations."""

    tolerated_growth_cost_when_kept: float = 1.07
    """Value of `tolerated_growth_cost` where all of K is kept, or tiles are float64: in float64 the columns take twice
    the memory, and the steps are few."""

    max_share_spent_growing: float = 0.1
    """Part of the quickest other way's seconds that growth may take while it is not forecast to be quicker."""

    min_rank: int = 256
    """Rank from which the trace of the Schur diagonal is extrapolated."""

    max_steps_over_forecast: float = 4.0
    """Full-vector steps, over their forecast number, after which they give way to greedy blocks."""

    min_steps: float = 60.0
    """Full-vector steps that are allowed whatever their forecast number."""

    def evaluation_seconds_per_value(self, n_columns: int, dtype: np.dtype[Any]) -> float:
        """Return the seconds of a product for each of the n^2 values that is evaluated from so many input columns."""
        return (
            self.evaluate_seconds_per_value.of(dtype) + self.evaluate_seconds_per_value_and_column.of(dtype) * n_columns
        )

    def forecast_steps(self, n: int, rank: int, left: float) -> float:
        """Forecast how many preconditioned full-vector steps reach a tolerance of 1e-4.

        Parameters
        ----------
        n, rank : int
        left : float
            Mean Schur diagonal over the noise.

        Notes
        -----
        The formula is a fit to arm8 and Kin40k at n = 10,000 and 20,000, ranks 500 to 4,000 (16 to 133 steps, all
        within a fifth). The condition number is 1 + |K - L L'| / sigma^2, and |K - L L'| grows with n at a given trace.

        Where little of K is left, the theory of conjugate gradients gives a better forecast: with
        |K - L L'| = delta sigma^2 each step divides the error by about 4 / delta.
        """
        many = self.least_steps + self.steps_per_root_of_rows * np.sqrt(n / 1e4) * left**self.steps_power
        delta = forecast_norm_left(n, rank, left)
        few = np.inf
        if delta < 2:
            few = 1 + np.log(self.error_reduction) / np.log(4 / max(delta, self.min_norm_left))
        return float(min(many, few))

    def block_seconds(self, system: LinearSystem, n_outputs: int) -> float:
        """Forecast the seconds that greedy blocks take."""
        n, d = system.X.shape
        passes = self.block_passes * np.sqrt(n / self.block_passes_rows)
        seconds_per_value = (
            2 * self.evaluation_seconds_per_value(d, system.dtype)
            + self.block_selection_seconds_per_value
            + self.multiply_seconds_per_value_and_output * n_outputs
        )
        return float(float(n) ** 2 * (passes * seconds_per_value))

    def cholesky_seconds(self, system: LinearSystem, factor_dtype: np.dtype[Any]) -> float:
        """Forecast the seconds of the direct solver, infinite where a factor of this type exceeds the memory budget."""
        n, d = system.X.shape
        if factor_dtype.itemsize * n**2 > system.storage.budget:
            return float(np.inf)
        evaluation = self.evaluation_seconds_per_value(d, np.dtype(np.float64))
        factorization = self.factor_seconds_per_row_cubed.of(factor_dtype) * float(n) ** 3
        return float(factorization + self.factor_evaluations_per_value * n**2 * evaluation)
