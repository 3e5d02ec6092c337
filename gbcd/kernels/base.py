"""What the package asks of a kernel, and how to write another one.

A value k(x, x') is never evaluated alone. Every input row is first turned into a row of numbers, its *features*, once
for many values. A *tile* is the matrix of kernel values between some feature rows and some others; where the kernel
allows it, it is one matrix product and one elementwise function. A kernel never sees a solver, and everything else
calls the methods of `Kernel` alone.

A new kernel is a module beside this one. Its class defines these, in this order:

1. `diagonal`: k(x, x), one number a row. K gets its diagonal from here; in a tile it carries rounding errors.
2. `row_features`, `column_features` and `tile`: what a tile is made of, and the tile itself. The two kinds of features
   may be the same. If the kernel depends on differences of inputs, take the inputs about `origin`: then squares cancel
   less in float32. `tile` must be able to write float32 and float64.
3. `magnitude`: the size of the terms that cancel in a tile, 0.0 where none do. Above 2,000, tiles are float64.
4. `for_inputs`: `self`, unless there is a slower form for inputs whose terms cancel too much even in float64.
5. `log_parameters`, `with_log_parameters` and `parameter_gradient`: for hyperparameters that are to be fitted. A kernel
   without free parameters has an array of length 0.
6. `n_features`: the number of input columns it is made for, None if any number will do.

K must be symmetric and positive semidefinite; k(x, x) need not be 1. Export the class in `gbcd/kernels/__init__.py` and
`gbcd/__init__.py`. Test it as `tests/unit/gbcd/kernels/test_squared_exponential.py` does: values by the definition,
tiles in both precisions, the gradient by finite differences.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy.typing as npt

from gbcd.types import Float64Array, FloatArray


@runtime_checkable
class Kernel(Protocol):
    """A positive semidefinite function k(x, x') of two input rows.

    `origin` (d,) is the centre of the training inputs, the same for all features that meet in a tile.
    """

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
        """Return the form of the kernel whose tiles are exact to rounding if one side is from X (n, d)."""

    def magnitude(self, X: FloatArray, origin: Float64Array) -> float:
        """Return the size of the largest term that cancels in a tile: float32 errs by that many times 1e-7."""

    def row_features(self, X: FloatArray, origin: Float64Array, dtype: npt.DTypeLike) -> FloatArray:
        """Return the features of X (n, d) as rows of a tile, shape (n, p)."""

    def column_features(self, X: FloatArray, origin: Float64Array, dtype: npt.DTypeLike) -> FloatArray:
        """Return the features of X (n, d) as columns of a tile, shape (n, p)."""

    def tile(self, rows: FloatArray, columns: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return the kernel values between row features (a, p) and column features (b, p): (a, b), written to `out`.

        The values have the precision of `out`, or that of the features where there is no `out`.
        """

    def parameter_gradient(self, X: Float64Array, K: Float64Array, dK: Float64Array) -> Float64Array:
        """Return d(objective)/d(log parameters) (p,), given symmetric d(objective)/dK (n, n)."""


def require_kernel(kernel: object, names: tuple[str, ...] = ()) -> None:
    """Refuse what is neither a `Kernel` nor one of the names.

    Raises
    ------
    ValueError
        If it is neither. For a kernel of scikit-learn, the message gives the translation.
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
