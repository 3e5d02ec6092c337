"""Kernels: what a value k(x, x') is, how tiles of it are computed, and its gradient."""

from gbcd.kernels.base import Kernel, require_kernel
from gbcd.kernels.squared_exponential import SquaredExponential

__all__ = ["Kernel", "SquaredExponential", "require_kernel"]
