"""Silhouettes, shape contexts, HistoSC descriptors, skeletons and HumanEva data.

The names below are loaded when first used (PEP 562), so that importing one stage imports only what that stage needs.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pose.descriptor.codebook import Codebook
    from pose.descriptor.edge_points import (
        EdgePoints,
        EmptySilhouetteError,
        sample_edges,
        split_components,
        trace_edges,
    )
    from pose.descriptor.histosc import HistoSC
    from pose.descriptor.matching import shape_context_distance, shape_context_distances
    from pose.descriptor.shape_context import ShapeContext
    from pose.silhouette.cleanup import CleanUp
    from pose.silhouette.gaussian_background import GaussianBackground
    from pose.silhouette.masks import as_mask

# Earlier documentation shows modules such as `pose.smoothing`; `import` finds them in this folder.
__path__.append(str(Path(__file__).parent / "earlier_names"))

# To publish a name: add it to the imports above, to this table, and to __all__.
_MODULES = {
    "CleanUp": "pose.silhouette.cleanup",
    "Codebook": "pose.descriptor.codebook",
    "EdgePoints": "pose.descriptor.edge_points",
    "EmptySilhouetteError": "pose.descriptor.edge_points",
    "GaussianBackground": "pose.silhouette.gaussian_background",
    "HistoSC": "pose.descriptor.histosc",
    "ShapeContext": "pose.descriptor.shape_context",
    "as_mask": "pose.silhouette.masks",
    "sample_edges": "pose.descriptor.edge_points",
    "shape_context_distance": "pose.descriptor.matching",
    "shape_context_distances": "pose.descriptor.matching",
    "split_components": "pose.descriptor.edge_points",
    "trace_edges": "pose.descriptor.edge_points",
}

__all__ = [
    "CleanUp",
    "Codebook",
    "EdgePoints",
    "EmptySilhouetteError",
    "GaussianBackground",
    "HistoSC",
    "ShapeContext",
    "as_mask",
    "sample_edges",
    "shape_context_distance",
    "shape_context_distances",
    "split_components",
    "trace_edges",
]


def __getattr__(name: str) -> object:
    """Import a public name from its module on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module 'pose' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
