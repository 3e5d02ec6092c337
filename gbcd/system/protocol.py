"""The system Kbar alpha = Y as solvers see it: what to implement to spread it over processes, machines or a GPU.

`LinearSystem` is all that solvers, selections and variances know of K. During a solve no kernel value between two
training rows is evaluated anywhere else. So whoever moves K to other machines implements these operations and leaves
the algorithms as they are.

Vectors are not part of the system. Right-hand sides, coefficients and gradients are NumPy arrays (n, q) in float64 that
callers hold whole. So are the arrays of n rows that some algorithms keep: the columns of the preconditioner
(`ColumnFactor`, n x rank), earlier search directions (`Directions`, up to 20 pairs of n x q), the columns of
`Exhaustive` (n x m), the descents of `Variances` (n x 512 at most). To spread these as well, cut them at the same rows
as K: every operation on them works row by row, or is a sum over rows. Predictions evaluate k(x, X) for new points x
without the system's operations, from `X`, `kernel` and `origin`.

The costs below use n rows, d input columns, q outputs, m indices. "Values" are evaluations of the kernel, about d
multiplications and an exponential each. Each one adds to `kernel_evaluations`; what is read from the kept part of K, or
is known by symmetry, adds nothing.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gbcd.kernels.base import Kernel
from gbcd.system.precision import TilePrecision
from gbcd.system.storage import KernelStorage
from gbcd.types import Float64Array, FloatArray, IntArray

KeptPart = Literal["whole", "half", "nothing"]
"""Part of K that may be kept: all n^2 values, one half of the symmetric matrix, or nothing."""


class KnownColumns(NamedTuple):
    """Kernel values that a selection has already computed: K[rows][:, B] (no noise), in tile precision."""

    rows: IntArray
    values: FloatArray


class LinearSystem(Protocol):
    """Kbar = K + noise I over n training rows, with K_ij = k(x_i, x_j).

    "Tile precision" is `dtype`: float32 or float64, as the noise and the spread of the inputs allow. It can only rise,
    by `raise_precision`. Results do not depend on the number of threads.
    """

    @property
    def n(self) -> int:
        """Number of training rows."""

    @property
    def noise(self) -> float:
        """sigma^2, the noise variance on Kbar's diagonal."""

    @property
    def X(self) -> Float64Array:
        """Training inputs (n, d), as scaled for the kernel."""

    @property
    def kernel(self) -> Kernel:
        """The kernel, in the form that is exact for these inputs."""

    @property
    def origin(self) -> Float64Array:
        """Centre (d,) about which features are taken."""

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """Tile precision, in which kernel values are evaluated unless an operation says float64."""

    @property
    def kernel_evaluations(self) -> int:
        """Kernel values computed so far, in any precision."""

    @property
    def precision(self) -> TilePrecision:
        """Errors of kernel values, and whether they may be kept as 16-bit codes."""

    @property
    def storage(self) -> KernelStorage:
        """The part of K that is kept, and the bytes of the memory budget that are left."""

    @property
    def product_error(self) -> float:
        """Approximate standard deviation of the error of a kernel value in `matmul`, which may be a code."""

    def diagonal(self, noise: bool = True) -> Float64Array:
        """Return the diagonal of Kbar, or of K where `noise` is False, shape (n,); not to be written to.

        Cost: none, it is computed once. Touches no other row.
        """

    def block(self, I: IntArray, J: IntArray, exact: bool = False) -> npt.NDArray[Any]:  # noqa: E741 - the paper's index sets
        """Return K[I, J], without noise, shape (len(I), len(J)).

        In tile precision, or in float64 where `exact`. Values on the diagonal of K are then exactly k(x, x).

        Cost: len(I) len(J) values; none where K is kept whole (in float64, if `exact`). Touches the rows I and J alone.
        """

    def columns(self, J: IntArray) -> FloatArray:
        """Return K[:, J], without noise, in tile precision, shape (n, m).

        Cost: n m values; none where K is kept whole. Touches all n rows; each part of the rows can be computed where
        it lies, from X[J].
        """

    def rows(self, I: IntArray, out: FloatArray | None = None) -> FloatArray:  # noqa: E741 - the paper's index sets
        """Return K[I, :], without noise, in tile precision, shape (m, n): for a few rows, thousands of times.

        `out` (m, n) may be written to, to save an allocation.

        Cost: n m values; none where K is kept whole. A copy of the features, n (d + 2) numbers, is made at the first
        call. Touches all n rows.
        """

    def add_columns(self, B: IntArray, D: Float64Array, G: Float64Array, known: KnownColumns | None = None) -> None:
        """G += Kbar[:, B] @ D in place: what a step D of the block B does to the gradient.

        Parameters
        ----------
        B : int array (m,)
            Distinct columns.
        D : array (m, q)
        G : array (n, q)
        known : KnownColumns, optional
            Kernel values that the caller already has. They are not evaluated again.

        Notes
        -----
        In tile precision, summed up in float64. Cost: n m values less those that are known, none where K is kept
        whole; n m q multiplications. A tile of the n m values is held at a time. Touches all n rows, each by itself.
        """

    def matmul(self, V: FloatArray, wide: bool = False) -> npt.NDArray[Any]:
        """Return Kbar @ V in float64, shape (n, q).

        Kernel values are evaluated in tile precision, or read where they are kept (16-bit codes are less exact, see
        `product_error`).

        `wide` is for hundreds of columns: products are summed up and returned in tile precision, nothing is kept or
        read, and both halves of K are evaluated. For so many columns this is quicker than the use of symmetry, with its
        partial sums in memory.

        Cost: n (n + 1) / 2 values less those that are kept, and n^2 q multiplications; n^2 values where `wide`.
        The first call keeps the half of K, as far as the memory budget goes, unless `keep` was called. Touches all n
        rows; each pair of rows must meet once.
        """

    def residual(self, alpha: Float64Array, Y: Float64Array, exact: bool = True) -> Float64Array:
        """Return the gradient Kbar @ alpha - Y, shape (n, q): in float64 throughout, or in tile precision.

        Values kept in less than float64 are not read, so that the result is as exact as its precision.

        Cost: n (n + 1) / 2 values and n^2 q multiplications; fewer values where tiles are float64 and kept, and
        `exact`. Touches all n rows; each pair of rows must meet once.
        """

    def dense(self, dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
        """Return the whole Kbar, (n, n), evaluated in float64 and rounded to `dtype`: for the direct solver.

        Cost: n (n + 1) / 2 values, and n^2 numbers of memory, whatever the budget. A system whose K lies in several
        places may raise MemoryError.
        """

    def cross(self, X_new: Float64Array, dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
        """Return K between the rows of X and X_new (t, d), shape (n, t).

        Cost: n t values, and n t numbers of memory. Touches all n rows, each by itself.
        """

    def keep(self, part: KeptPart, reserved: int = 0, coded: bool | None = None) -> bool:
        """Set which part of K is kept from now on, within the memory budget; return whether all of that part fits.

        Parameters
        ----------
        part : {"whole", "half", "nothing"}
            "whole": all of K in tile precision, if it fits; evaluated at once, read by `block`, `columns`, `rows`,
            `add_columns` and `matmul`. Where it does not fit nothing changes. "half": as many tiles of one half as fit;
            filled and read by `matmul` alone. "nothing": the memory is given back; the next `matmul` keeps what fits.
        reserved : int
            Bytes of the budget that "half" leaves free.
        coded : bool, optional
            Keep the half as 16-bit codes, or in tile precision. By default in tile precision where all of it fits;
            else as codes, where the noise outweighs their rounding; else as much of it as fits, in tile precision.

        Notes
        -----
        Cost: "whole" n (n + 1) / 2 values, in float64; the others none. For codes, rows may be sorted so that near rows
        are together: O(n d^2 + d^3) for each of log2(n / 256) halvings.
        """

    def raise_precision(self) -> bool:
        """Raise the precision where rounding stops a solver: give up codes, then float32. Return False in float64.

        Cost: the kept part of K is given up. In float64 features are made again, and values take about 1.5 times as
        long.
        """

    def require_unchanged(self) -> None:
        """Refuse to go on if the caller has changed X in place, as kept tiles would still hold the old values.

        Cost: one reading of X.

        Raises
        ------
        ValueError
            If X differs from what it was.
        """
