"""Training or test samples, one per image: choosing and joining them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pose.types import BoolArray, Float32Array, FloatArray, IntArray, ShapeLike

FRAMES_PER_SECOND = 60
"""Toolkit frames per second in HumanEva-I."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Training or test samples; a row is an image of one camera.

    Parameters
    ----------
    edges : ndarray of shape (n, n_points, 2), float32
        Edge points, pixels.
    poses : ndarray of shape (n, 15, 3)
        mm, relative to the root, in the axes of the target frame.
    subject, action, camera : ndarray of str, shape (n,)
    trial, frame : ndarray of int, shape (n,)
        Trial and toolkit frame number.
    n_empty, n_missing : int
        Numbers of frames left out: without a person, and beyond the end of their video.
    tangents : ndarray of shape (n, n_points, 2), float32, optional
        Direction of the edge at each point, if the descriptor needs it.
    """

    edges: Float32Array
    poses: FloatArray
    subject: NDArray[np.str_]
    action: NDArray[np.str_]
    camera: NDArray[np.str_]
    trial: IntArray
    frame: IntArray
    n_empty: int
    n_missing: int
    tangents: Float32Array | None = None

    def __len__(self) -> int:
        return len(self.poses)

    def thinned(self, most: int) -> Samples:
        """At most `most` of the samples, in order; those left out are spread evenly."""
        if most >= len(self):
            return self
        return self.take(np.arange(most) * len(self) // most)

    def take(self, rows: IntArray | BoolArray) -> Samples:
        """The samples of some rows, by number or by mask; `n_empty` and `n_missing` stay."""
        return replace(self, **{column: getattr(self, column)[rows] for column in self.columns})

    @property
    def columns(self) -> list[str]:
        """Names of the arrays with one row per sample."""
        return [*_COLUMNS, *(["tangents"] if self.tangents is not None else [])]

    def images(self, rows: slice = slice(None)) -> list[ShapeLike]:
        """The edge points of some samples as HistoSC takes them, with their tangents if there are any."""
        if self.tangents is None:
            return list(self.edges[rows])
        return list(zip(self.edges[rows], self.tangents[rows], strict=True))

    def time_blocks(self, n_frames: int, by_camera: bool = False) -> IntArray:
        """Label (n,) of each sample's time block: `n_frames` frames of a trial, of all cameras or of one."""
        camera = self.camera if by_camera else np.full(len(self), "")
        keys = list(zip(self.subject, self.action, self.trial, camera, self.frame // n_frames, strict=True))
        index = {key: label for label, key in enumerate(dict.fromkeys(keys))}
        return np.array([index[key] for key in keys], dtype=np.int64)


_COLUMNS = ("edges", "poses", "subject", "action", "camera", "trial", "frame")
"""Fields of `Samples` with one row per sample, without the optional `tangents`."""


def join_samples(parts: list[Samples]) -> Samples:
    """The samples of several videos, one after the other; the counts of frames left out are summed."""
    joined = {column: np.concatenate([getattr(part, column) for part in parts]) for column in parts[0].columns}
    return Samples(
        **joined, n_empty=sum(part.n_empty for part in parts), n_missing=sum(part.n_missing for part in parts)
    )
