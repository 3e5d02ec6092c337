"""The picture of `pose describe`: one silhouette's descriptor, with the vocabulary of a model or one of its own."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from pipelines.errors import UsageError
from pipelines.model.pose_model import PoseModel
from pose import EmptySilhouetteError, HistoSC
from pose.descriptor.picture import draw_descriptor
from pose.errors import DataError
from pose.files import atomic_path
from pose.silhouette.masks import as_mask
from pose.types import BoolArray

DPI = 110
"""Dots per inch of the picture, which is then 1,210 pixels wide."""


@dataclass(frozen=True)
class Description:
    """What was drawn.

    Parameters
    ----------
    n_points, n_words, n_used : int
        Numbers of edge points, of words in the vocabulary, and of words that occur.
    """

    n_points: int
    n_words: int
    n_used: int


def read_mask(path: Path) -> BoolArray:
    """Read a picture of a silhouette.

    Raises
    ------
    UsageError
        If there is no such file.
    DataError
        If it is no picture or no mask.
    """
    if not path.is_file():
        raise UsageError(f"{path}: {'is a folder, one picture is needed' if path.is_dir() else 'no such file'}")
    content = np.frombuffer(path.read_bytes(), np.uint8)
    picture = cv2.imdecode(content, cv2.IMREAD_UNCHANGED) if content.size else None
    if picture is None:
        raise DataError(f"{path}: is not a picture; a silhouette as PNG is needed")
    try:
        return as_mask(picture)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from error


def draw_description(
    mask: Path, out: Path, *, model: Path | None = None, n_words: int = 12, at: tuple[float, float] | None = None
) -> Description:
    """Draw the descriptor of a silhouette as PNG.

    Parameters
    ----------
    mask : Path
        Picture of one person, bright on dark or cut out by its alpha channel.
    out : Path
        The PNG; appears whole or not at all.
    model : Path, optional
        Take the vocabulary of this model. Without one, `n_words` words are learnt from the silhouette itself.
    n_words : int
        Number of words to learn, at least 1.
    at : tuple of float, optional
        x and y, pixels, of the edge point whose shape context is shown.

    Raises
    ------
    UsageError, DataError
        As :func:`read_mask`; also for a request out of range, an empty mask, or a faulty model.
    """
    if n_words < 1:
        raise UsageError(f"--words {n_words}: must be at least 1")
    foreground = read_mask(mask)
    try:
        histosc = _vocabulary(foreground, model, n_words)
        figure = draw_descriptor(foreground, histosc, at)
        used = len(np.unique(histosc.codebook_.predict(histosc.describe(foreground))))
    except EmptySilhouetteError as error:
        raise DataError(f"{mask}: {str(error).removeprefix('image 0: ')}") from error
    with atomic_path(out) as temporary:
        figure.savefig(temporary, dpi=DPI, pil_kwargs={"optimize": True})
    return Description(histosc.n_points, histosc.codebook_.n_words_, used)


def _vocabulary(foreground: BoolArray, model: Path | None, n_words: int) -> HistoSC:
    if model is not None:
        return PoseModel.load(model).histosc
    with warnings.catch_warnings():
        # A simple shape may have fewer distinct points than `n_words`; the command prints the number of words learnt.
        warnings.filterwarnings("ignore", message="n_words=", category=UserWarning)
        return HistoSC(n_words=n_words).fit([foreground])
