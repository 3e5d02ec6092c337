"""What the package asks of a kernel."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy.typing as npt

from gbcd.types import Float64Array, FloatArray


@runtime_checkable
class Kernel(Protocol):
    """What the package asks of a kernel."""

    @property
    def n_features(self) -> int | None:
        """Number of input columns the kernel is made for; None when any number will do."""

    @property
    def log_parameters(self) -> Float64Array:
        """The free parameters in log space, shape (p,)."""

    def with_log_parameters(self, theta: Float64Array) -> Kernel:
        """Return the same kernel with other parameters, given in log space, shape (p,)."""

    def diagonal(self, X: FloatArray) -> Float64Array:
        """Return k(x, x) for each row of X (n, d): shape (n,)."""

    def for_inputs(self, X: FloatArray, origin: Float64Array) -> Kernel:
        """Return the kernel in the form whose tiles are exact to rounding where one side is among X (n, d)."""

    def magnitude(self, X: FloatArray, origin: Float64Array) -> float:
        """Return the size of the largest term that cancels in a tile: float32 loses that many times 1e-7."""

    def row_features(self, X: FloatArray, origin: Float64Array, dtype: npt.DTypeLike) -> FloatArray:
        """Return what a tile needs of its rows, shape (n, p)."""

    def column_features(self, X: FloatArray, origin: Float64Array, dtype: npt.DTypeLike) -> FloatArray:
        """Return what a tile needs of its columns, shape (n, p)."""

    def tile(self, rows: FloatArray, columns: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return the kernel values between feature rows (a, p) and (b, p): shape (a, b), written to `out`."""

    def parameter_gradient(self, X: Float64Array, K: Float64Array, dK: Float64Array) -> Float64Array:
        """Return d(objective)/d(log parameters) (p,), given symmetric d(objective)/dK (n, n)."""


def require_kernel(kernel: object, names: tuple[str, ...] = ()) -> None:
    """Refuse what is neither a `Kernel` nor one of the names.

    Raises
    ------
    ValueError
        With the translation, for a kernel of scikit-learn.
    """
    if (isinstance(kernel, str) and kernel in names) or (isinstance(kernel, Kernel) and not isinstance(kernel, type)):
        return
    choice = ", ".join(map(repr, names)) + " or a gbcd.Kernel" if names else "a gbcd.Kernel"
    hint = ""
    if type(kernel).__module__.startswith("sklearn."):
        hint = ": RBF(length_scale) of scikit-learn is gbcd.SquaredExponential(1 / (2 * length_scale**2))"
    elif not isinstance(kernel, str) or kernel.lower() in ("rbf", "se", "gaussian"):
        hint = ", e.g. gbcd.SquaredExponential(gamma)"
    raise ValueError(f"kernel must be {choice}, not {kernel!r}{hint}.")
