"""The BLAS and LAPACK calls that blocked factorizations are made of, on parts of one C-ordered matrix in place.

The same routines in `scipy.linalg.blas` keep Python's lock while they run, so that threads wait for each other,
and copy what they overwrite. The addresses that scipy publishes for Cython have neither fault. BLAS stores matrices by
columns, so it sees the transpose of each array here: hence "upper" for a lower triangle.
"""

from __future__ import annotations

import ctypes
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.linalg
from scipy.linalg import cython_blas, cython_lapack

F = TypeVar("F", np.float32, np.float64)

_LETTERS = {"float32": "s", "float64": "d"}
_REALS: dict[str, Any] = {"float32": ctypes.c_float, "float64": ctypes.c_double}


def _addresses(module: ModuleType, routine: str, arguments: int) -> dict[str, Any]:
    """Return the routine in each precision; all of its arguments are addresses."""
    name_of, address_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    address_of.restype, address_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)
    found = {}
    for dtype, letter in _LETTERS.items():
        capsule = module.__pyx_capi__[letter + routine]
        found[dtype] = prototype(address_of(capsule, name_of(capsule)))
    return found


_GEMM = _addresses(cython_blas, "gemm", 13)
_SYRK = _addresses(cython_blas, "syrk", 10)
_TRSM = _addresses(cython_blas, "trsm", 11)
_TRSV = _addresses(cython_blas, "trsv", 8)
_POTRF = _addresses(cython_lapack, "potrf", 5)


def _letter(value: str) -> Any:
    return ctypes.byref(ctypes.c_char(value.encode()))


def _integer(value: int) -> Any:
    return ctypes.byref(ctypes.c_int(value))


def _real(value: float, dtype: str) -> Any:
    return ctypes.byref(_REALS[dtype](value))


def _place(array: npt.NDArray[F]) -> tuple[int, Any]:
    """Return the address of a matrix and the distance between its rows, in numbers."""
    rows, columns = array.shape
    if (columns > 1 and array.strides[1] != array.itemsize) or array.dtype.name not in _LETTERS:
        raise ValueError(f"Rows must be contiguous float32 or float64, not {array.dtype} with strides {array.strides}.")
    # The stride of a single row means nothing.
    step = array.strides[0] // array.itemsize if rows > 1 else 1
    return array.ctypes.data, _integer(max(step, columns, 1))


def subtract_product(C: npt.NDArray[F], A: npt.NDArray[F], B: npt.NDArray[F]) -> None:
    """C -= A @ B.T, for C (a, b), A (a, k) and B (b, k)."""
    dtype, (a, k), b = C.dtype.name, A.shape, len(B)
    (at, step), (left, left_step), (right, right_step) = _place(C), _place(A), _place(B)
    _GEMM[dtype](
        *(_letter("T"), _letter("N"), _integer(b), _integer(a), _integer(k), _real(-1, dtype)),
        *(right, right_step, left, left_step, _real(1, dtype), at, step),
    )


def subtract_square(C: npt.NDArray[F], A: npt.NDArray[F]) -> None:
    """C -= A @ A.T in the lower triangle, for C (a, a) and A (a, k)."""
    dtype, (a, k) = C.dtype.name, A.shape
    (at, step), (left, left_step) = _place(C), _place(A)
    _SYRK[dtype](
        *(_letter("U"), _letter("T"), _integer(a), _integer(k), _real(-1, dtype)),
        *(left, left_step, _real(1, dtype), at, step),
    )


def factor(A: npt.NDArray[F]) -> None:
    """Overwrite the lower triangle of A (a, a) with its Cholesky factor.

    Raises
    ------
    scipy.linalg.LinAlgError
        If A is not positive definite to rounding.
    """
    at, step = _place(A)
    info = ctypes.c_int(0)
    _POTRF[A.dtype.name](_letter("U"), _integer(len(A)), at, step, ctypes.byref(info))
    # OpenBLAS does not notice a pivot that is NaN.
    if info.value != 0 or not np.isfinite(np.diagonal(A)).all():
        raise scipy.linalg.LinAlgError("The matrix is not positive definite to rounding.")


def divide(X: npt.NDArray[F], lower: npt.NDArray[F], transposed: bool = False) -> None:
    """Replace each row x of X (a, n) by the z with lower z = x, or lower' z = x if transposed.

    Only the lower triangle of `lower` (n, n) is read.
    """
    dtype = X.dtype.name
    (at, step), (triangle, triangle_step) = _place(X), _place(lower)
    _TRSM[dtype](
        *(_letter("L"), _letter("U"), _letter("N" if transposed else "T"), _letter("N")),
        *(_integer(X.shape[1]), _integer(len(X)), _real(1, dtype), triangle, triangle_step, at, step),
    )


def divide_vector(x: npt.NDArray[F], lower: npt.NDArray[F], transposed: bool = False) -> None:
    """Replace a contiguous x (n,) as `divide` does each row, but without packing `lower` first."""
    dtype = x.dtype.name
    triangle, triangle_step = _place(lower)
    _TRSV[dtype](
        *(_letter("U"), _letter("N" if transposed else "T"), _letter("N")),
        *(_integer(len(x)), triangle, triangle_step, _place(x[None])[0], _integer(1)),
    )
