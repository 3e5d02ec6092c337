"""HistoSC histograms of a tree's samples."""

from __future__ import annotations

import numpy as np

from pipelines.features.samples import Samples
from pipelines.features.tree_features import N_WORKERS
from pipelines.progress import Reporter
from pipelines.settings import Config
from pipelines.types import Histograms
from pose import HistoSC


def new_histosc(config: Config) -> HistoSC:
    """The descriptor of the settings, before its codebook is learnt."""
    settings = config.descriptor
    return HistoSC(
        settings.n_points,
        settings.n_words,
        random_state=config.random_state,
        n_jobs=N_WORKERS,
        assignment=settings.assignment,
        hellinger=settings.hellinger,
        rotation=settings.rotation,
    )


def histograms_of(histosc: HistoSC, samples: Samples, reporter: Reporter, what: str) -> Histograms:
    """HistoSC histograms (n, words) of samples, with progress."""
    chunk = 500
    rows = []
    for start in range(0, len(samples), chunk):
        rows.append(histosc.transform(samples.images(slice(start, start + chunk))))
        reporter.progress(f"histograms of {what}", min(start + chunk, len(samples)), len(samples))
    return np.concatenate(rows)
