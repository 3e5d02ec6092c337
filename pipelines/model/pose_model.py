"""A trained model: histograms or videos in, poses out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np

from gbcd import MeanPredictor
from pipelines.errors import UsageError
from pipelines.model.contents import ModelContents
from pipelines.model.model_file import read_model
from pipelines.streaming.frames import FrameRange
from pipelines.streaming.scene import choose_scene
from pipelines.streaming.stream import FramePose, stream
from pipelines.types import Histograms, Poses
from pose.errors import DataError
from pose.types import BoolArray, FloatArray


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
    unlike: BoolArray


class PoseModel(ModelContents):
    """A trained model, which predicts poses from histograms and from videos.

    Its fields are those of `pipelines.model.contents.ModelContents`: ``config``, ``histosc``, ``gp``, ``mpgp``,
    ``mean_pose``, ``skeleton``, ``summary``, ``calibration`` and ``digest``.
    """

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model file (`pipelines.model.model_file`).

        Raises
        ------
        DataError
            If the file is missing, damaged, foreign or of another format version.
        """
        return cls(**vars(read_model(path)))

    @property
    def axes(self) -> str:
        """``"camera"`` (x right, y down, z forward) or ``"world"`` (z up)."""
        return self.config.data.target_frame

    def predict(self, histograms: Histograms) -> Poses:
        """Poses (n, 15, 3), mm, root-relative, of HistoSC histograms.

        Parameters
        ----------
        histograms : ndarray of shape (n, words)
            Of shape (n, cameras * words) if the model was trained on concatenated views.

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

    @cached_property
    def _mean_predictor(self) -> MeanPredictor:
        return MeanPredictor(self.gp)

    def predict_mean(self, histograms: Histograms) -> Poses:
        """The poses of `predict`, on one thread: quick for many calls with few histograms each."""
        return self._as_poses(self._mean_predictor.predict(histograms))

    def predict_video(
        self,
        video: str | Path,
        background: str | Path | Sequence[str | Path] = (),
        *,
        background_seconds: float | None = None,
        masks: bool = False,
        start: int = 0,
        stop: int | None = None,
        stride: int = 1,
        std: bool | None = None,
    ) -> Iterator[FramePose]:
        """Poses of a video's frames, each as soon as it is computed.

        Parameters
        ----------
        video : path-like
            A video, or a folder of numbered pictures.
        background : path-like or sequence of these
            Recordings or pictures of the empty scene by the same camera, or ``"running"``, to learn it while the video
            plays.
        background_seconds : float, optional
            Seconds at the beginning of the video that show the empty scene.
        masks : bool
            The video shows silhouettes already.
        start, stop, stride : int
            Every `stride`-th frame from `start` up to `stop`, which is left out.
        std : bool, optional
            Also give standard deviations, which take more than half of the time; by default if the model has them.

        Yields
        ------
        FramePose
            ``frame``, ``time`` (s), ``joints`` (15, 3) and ``std`` in mm, ``quality``.

        Raises
        ------
        UsageError
            If the empty scene is not named in exactly one way, or the range of frames is invalid.
        DataError
            If a file cannot be read or a frame does not fit the background.

        Examples
        --------
        >>> model = PoseModel.load("my.h5")  # doctest: +SKIP
        >>> for pose in model.predict_video("clip.avi", background="empty_room.avi"):  # doctest: +SKIP
        ...     print(pose.frame, pose.joints[0])
        """
        backgrounds = [background] if isinstance(background, str | Path) else background
        scene = choose_scene(backgrounds, background_seconds, masks)
        with_std = self.calibration is not None if std is None else std
        for batch in stream(Path(video), self, scene, FrameRange(start, stop, stride), with_std):
            yield from batch

    def predict_with_std(self, histograms: Histograms) -> PosePrediction:
        """Poses of HistoSC histograms (n, words), and how far they can be trusted.

        Raises
        ------
        UsageError, DataError
            As `predict` and `standard_deviations` do.
        """
        return PosePrediction(self.predict(histograms), *self.standard_deviations(histograms))

    def standard_deviations(self, histograms: Histograms) -> tuple[Poses, BoolArray]:
        """Standard deviations (n, 15, 3), mm, and whether each silhouette is unlike those of the training set (n,).

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
        variance = self.gp.posterior_.neighbour_variances(np.asarray(histograms, dtype=np.float64))
        return self._as_poses(calibration.std(variance)), calibration.unlike_training(variance)

    def predict_mpgp(self, histograms: Histograms) -> Poses:
        """Poses (n, 15, 3), mm, root-relative, by the matching-pursuit process."""
        return self._as_poses(np.asarray(self.mpgp.predict(histograms)))

    def _as_poses(self, outputs: FloatArray) -> Poses:
        return outputs.reshape(len(outputs), len(self.skeleton), 3)
