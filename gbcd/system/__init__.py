"""The linear system Kbar alpha = Y: its kernel values in tiles, the part that is kept, and products with vectors."""

from gbcd.system.kernel_system import KernelSystem
from gbcd.system.protocol import LinearSystem

__all__ = ["KernelSystem", "LinearSystem"]
