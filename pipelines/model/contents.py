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
    """HistoSC, the exact Gaussian process, and the predictors that the process is compared with.

    Parameters
    ----------
    config : Config
        The settings of the training.
    histosc : HistoSC
        The descriptor, with its codebook.
    gp : GBCDRegressor
        The exact process, from histograms to 45 outputs.
    mpgp : MatchingPursuitGP
        The sparse rival, with the kernel, noise and scaling of `gp`.
    mean_pose : ndarray of shape (15, 3)
        Mean pose of the training set, mm: the baseline that ignores the image.
    skeleton : Skeleton
    summary : dict
        Counts, hyperparameters and seconds of the training, for people.
    calibration : Calibration, optional
        Calibration of the standard deviations. None in models of older software, or where there were too few instants
        to hold any out.
    digest : str
        SHA-256 of the model's file; empty for a model that was just trained.
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
