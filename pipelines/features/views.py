"""Several cameras' histograms of one instant, side by side."""

from __future__ import annotations

import dataclasses

import numpy as np

from pipelines.features.samples import Samples
from pipelines.settings import DataConfig
from pipelines.types import Histograms
from pose.errors import DataError


def arrange_views(samples: Samples, histograms: Histograms, settings: DataConfig) -> tuple[Samples, Histograms]:
    """Arrange samples and histograms as the setting ``views`` asks.

    Parameters
    ----------
    samples : Samples
        Samples of single cameras.
    histograms : ndarray of shape (n, words)
    settings : DataConfig
        ``views = "concatenated"`` joins the histograms of ``cameras``, in that order. An instant that a camera lacks is
        left out. Edge points, and poses in camera axes, are the first camera's.

    Returns
    -------
    samples : Samples
        m samples, whose camera is called e.g. ``"C1+C2+C3"``.
    histograms : ndarray of shape (m, words) or (m, cameras * words)

    Raises
    ------
    DataError
        If there is no instant that all cameras show.
    """
    if settings.views == "single":
        return samples, histograms
    keys = list(zip(samples.subject, samples.action, samples.trial, samples.frame, strict=True))
    row_of = {(camera, key): row for row, (camera, key) in enumerate(zip(samples.camera, keys, strict=True))}
    instants = dict.fromkeys(keys)
    rows = [[row_of.get((camera, key)) for camera in settings.cameras] for key in instants]
    whole = np.array([row for row in rows if None not in row], dtype=np.int64).reshape(-1, len(settings.cameras))
    if not len(whole):
        raise DataError(f"no instant has a person in all of {', '.join(settings.cameras)}, which views are joined of")
    names = np.full(len(whole), "+".join(settings.cameras))
    joined = dataclasses.replace(samples.take(whole[:, 0]), camera=names)
    return joined, histograms[whole].reshape(len(whole), -1)
