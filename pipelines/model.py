"""A trained model: silhouettes' edge points in, poses out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbcd import GBCDRegressor, LocalVariances, MatchingPursuitGP
from pipelines.calibration import Calibration
from pipelines.config import Config
from pose import HistoSC
from pose.errors import DataError
from pose.skeleton import Skeleton

Histograms = NDArray[np.float64]
Poses = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PosePrediction:
    """Poses and how far they can be trusted.

    Parameters
    ----------
    joints : ndarray of shape (n, 15, 3)
        mm, relative to the root.
    std : ndarray of shape (n, 15, 3)
        Standard deviation of each coordinate, mm; 0 for the root.
    unlike : ndarray of bool, shape (n,)
        Whether the silhouette is unlike those of the training set.
    """

    joints: Poses
    std: Poses
    unlike: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PoseModel:
    """HistoSC, the exact Gaussian process, and what it is compared with.

    Parameters
    ----------
    config : Config
        What it was trained with.
    histosc : HistoSC
        With its codebook.
    gp : GBCDRegressor
        Histograms to 45 numbers.
    mpgp : MatchingPursuitGP
        The sparse rival, on `gp`'s scaled inputs.
    mean_pose : ndarray of shape (15, 3)
        Of the training set, mm: the error of knowing nothing.
    skeleton : Skeleton
    summary : dict
        Counts, hyperparameters and seconds of the training, for people.
    calibration : Calibration, optional
        Of the standard deviations; None in models of older software, or trained on too few instants to hold any out.
    """

    config: Config
    histosc: HistoSC
    gp: GBCDRegressor
    mpgp: MatchingPursuitGP
    mean_pose: Poses
    skeleton: Skeleton
    summary: dict[str, Any] = field(default_factory=dict)
    calibration: Calibration | None = None

    @property
    def axes(self) -> str:
        """``"camera"`` (x right, y down, z forward) or ``"world"`` (z up)."""
        return self.config.data.target_frame

    def predict(self, histograms: Histograms) -> Poses:
        """Poses (n, 15, 3), mm, root-relative, of HistoSC histograms (n, words)."""
        return self._as_poses(np.asarray(self.gp.predict(histograms)))

    def predict_with_std(self, histograms: Histograms) -> PosePrediction:
        """Poses, their standard deviations, and whether they can be known at all, of HistoSC histograms (n, words).

        Raises
        ------
        DataError
            If the model has no calibration.
        """
        calibration = self.calibration
        if calibration is None:
            raise DataError(
                "the model holds no calibrated standard deviations: it was trained by an older version, or on too few "
                "frames to hold any out; train it again"
            )
        variance = self._variances.at(self.gp.scale_inputs(np.asarray(histograms, dtype=np.float64)))
        return PosePrediction(
            self.predict(histograms), self._as_poses(calibration.std(variance)), calibration.unlike_training(variance)
        )

    @cached_property
    def _variances(self) -> LocalVariances:
        return LocalVariances(self.gp.X_train_, self.gp.kernel_, self.gp.noise_)

    def predict_mpgp(self, histograms: Histograms) -> Poses:
        """The sparse rival's poses (n, 15, 3)."""
        return self._as_poses(np.asarray(self.mpgp.predict(self.gp.scale_inputs(histograms))))

    def _as_poses(self, outputs: NDArray[np.float64]) -> Poses:
        return outputs.reshape(len(outputs), len(self.skeleton), 3)
