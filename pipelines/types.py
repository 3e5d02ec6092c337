"""Array types that the packages of `pipelines` share; more general ones are in `pose.types`."""

from __future__ import annotations

from pose.types import FloatArray

Histograms = FloatArray
"""HistoSC histograms, (n, words); with the views of all cameras side by side, (n, cameras * words)."""

Poses = FloatArray
"""Joint positions, (n, 15, 3), mm, relative to the root."""
