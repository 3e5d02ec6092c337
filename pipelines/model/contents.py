"""What a trained model consists of, and what its file holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gbcd import GBCDRegressor, MatchingPursuitGP
from pipelines.model.error_bars import Calibration
from pipelines.settings import Config
from pipelines.types import Poses
from pose import HistoSC
from pose.body.skeleton import Skeleton


@dataclass(frozen=True, eq=False)
class ModelContents:
    """HistoSC, the exact Gaussian process, and what it is compared with.

    Parameters
    ----------
    config : Config
        The settings of the training.
    histosc : HistoSC
        With its codebook.
    gp : GBCDRegressor
        Histograms to 45 numbers.
    mpgp : MatchingPursuitGP
        The sparse rival, with the kernel, noise and scaling of `gp`.
    mean_pose : ndarray of shape (15, 3)
        Of the training set, mm: the error of knowing nothing.
    skeleton : Skeleton
    summary : dict
        Counts, hyperparameters and seconds of the training, for people.
    calibration : Calibration, optional
        Of the standard deviations; None in models of older software, or trained on too few instants to hold any out.
    digest : str
        SHA-256 of the file it was read from; empty for one that was just trained.
    """

    config: Config
    histosc: HistoSC
    gp: GBCDRegressor
    mpgp: MatchingPursuitGP
    mean_pose: Poses
    skeleton: Skeleton
    summary: dict[str, Any] = field(default_factory=dict)
    calibration: Calibration | None = None
    digest: str = ""
