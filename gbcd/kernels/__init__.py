"""Kernels: values k(x, x') in tiles, and their gradients. `base` says what a new one must define."""

from gbcd.kernels.base import Kernel, require_kernel
from gbcd.kernels.squared_exponential import SquaredExponential

__all__ = ["Kernel", "SquaredExponential", "require_kernel"]
