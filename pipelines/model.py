"""A trained model: silhouettes' edge points in, poses out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbcd import GBCDRegressor, MatchingPursuitGP
from pipelines.config import Config
from pipelines.errors import UsageError
from pose import HistoSC
from pose.skeleton import Skeleton

Histograms = NDArray[np.float64]
Poses = NDArray[np.float64]


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
    """

    config: Config
    histosc: HistoSC
    gp: GBCDRegressor
    mpgp: MatchingPursuitGP
    mean_pose: Poses
    skeleton: Skeleton
    summary: dict[str, Any] = field(default_factory=dict)

    @property
    def axes(self) -> str:
        """``"camera"`` (x right, y down, z forward) or ``"world"`` (z up)."""
        return self.config.data.target_frame

    def predict(self, histograms: Histograms) -> Poses:
        """Poses (n, 15, 3), mm, root-relative, of HistoSC histograms (n, words); of all views side by side, if need be.

        Raises
        ------
        UsageError
            If the histograms are of single views and the model needs all of its cameras at once.
        """
        if self.config.data.views == "concatenated" and histograms.shape[1] == len(self.histosc.codebook_.centers_):
            raise UsageError(
                f"this model tells one pose from {', '.join(self.config.data.cameras)} together, not from one video: "
                'train one with views = "single" and fuse its poses'
            )
        return self._as_poses(np.asarray(self.gp.predict(histograms)))

    def predict_mpgp(self, histograms: Histograms) -> Poses:
        """The sparse rival's poses (n, 15, 3)."""
        return self._as_poses(np.asarray(self.mpgp.predict(self.gp.scale_inputs(histograms))))

    def _as_poses(self, outputs: NDArray[np.float64]) -> Poses:
        return outputs.reshape(len(outputs), len(self.skeleton), 3)
