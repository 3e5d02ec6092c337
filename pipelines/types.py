"""Arrays that several rooms pass to each other; those of any meaning are in `pose.types`."""

from __future__ import annotations

from pose.types import FloatArray

Histograms = FloatArray
"""HistoSC histograms, (n, words), or (n, cameras * words) of all views side by side."""

Poses = FloatArray
"""Joints, (n, 15, 3), mm, relative to the root."""
