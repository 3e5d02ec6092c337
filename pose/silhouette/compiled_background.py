"""The compiled loops of the background model: one pass over the pixels of a frame, without temporary arrays.

The loops are single-threaded and release the interpreter's lock (``nogil``): callers run one video a thread.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from pose.types import Float32Array, FloatArray, Image, Mask


class CompiledModel(NamedTuple):
    """What the loops read of a background model; c channels, r recordings."""

    outer: Image
    """(h, w, 2 c): the least and the largest value that the background may explain, channel by channel."""
    terms: Float32Array
    """(h, w, r * (2 c + 1)): for each recording mean and 1/variance of each channel, then the log of the normal density
    at its mean, summed over channels, minus log r. A pixel's terms lie side by side, since few pixels are read."""
    channels: tuple[int, ...]
    """Any c numbers: the length of a tuple is known at compile time, which halves the run time."""
    n_recordings: int
    """r."""
    threshold: float
    """Log density below which a pixel is foreground."""
    shadow_low: float
    """Least brightness factor that is taken for shadow."""
    shadow_high: float
    """Largest brightness factor that is taken for shadow; if it is below `shadow_low`, nothing is shadow."""


@numba.njit(cache=True, nogil=True, inline="always")  # left to LLVM it is not inlined, and 1.5 times as slow
def _explained(frame: Image, i: int, j: int, scale: float, model: CompiledModel, logs: FloatArray) -> bool:
    """Whether the background, in light or in shadow, explains pixel (i, j) times `scale`.

    One pass over the channels gives three sums. They yield the squared distance to the mean, for light, and to the mean
    times the best brightness factor, ``cross / square``, for shadow. The summed density is at least its largest term,
    so the first recording that explains the pixel decides. `logs` (r,) is work space.
    """
    terms, threshold, n_recordings = model.terms, model.threshold, model.n_recordings
    best = -np.inf
    at = 0
    for r in range(n_recordings):
        own = 0.0
        cross = 0.0
        square = 0.0
        for k in range(len(model.channels)):
            value = frame[i, j, k] * scale
            mean = np.float64(terms[i, j, at])
            weighted = mean * terms[i, j, at + 1]
            own += value * value * terms[i, j, at + 1]
            cross += value * weighted
            square += mean * weighted
            at += 2
        norm = np.float64(terms[i, j, at])
        at += 1
        logs[r] = norm - 0.5 * (own - 2.0 * cross + square)
        if logs[r] >= threshold:
            return True
        in_range = model.shadow_low * square <= cross <= model.shadow_high * square and square > 0.0
        if in_range and norm - 0.5 * (own - cross * cross / square) >= threshold:
            return True
        best = max(best, logs[r])
    # The sum is at most n_recordings times its largest term. Exponentials are needed only where this bound is too weak.
    if best + np.log(n_recordings) < threshold:
        return False
    total = 0.0
    for r in range(n_recordings):
        total += np.exp(logs[r] - best)
    return bool(best + np.log(total) >= threshold)


@numba.njit(cache=True, nogil=True)
def classify(frame: Image, scaled: Image, likely: Mask, gain: float, model: CompiledModel) -> Mask:
    """Mark the pixels that the background does not explain.

    Parameters
    ----------
    frame, scaled
        (h, w, c): the frame, and its values over `gain`, rounded.
    likely
        (h, w), non-zero where the pixel is known to be background and need not be looked at.
    gain
        Brightness of this frame relative to the means.
    model
        The background; `scaled` is compared with its `outer`.

    Returns
    -------
    (h, w) uint8, 255 where foreground.
    """
    height, width, _ = frame.shape
    outer = model.outer
    mask = np.zeros((height, width), np.uint8)
    logs = np.empty(model.n_recordings)
    scale = 1.0 / gain
    for i in range(height):
        for j in range(width):
            if likely[i, j] != 0:
                continue
            outside = False
            for k in range(len(model.channels)):
                outside |= scaled[i, j, k] < outer[i, j, 2 * k] or scaled[i, j, k] > outer[i, j, 2 * k + 1]
            if outside or not _explained(frame, i, j, scale, model, logs):
                mask[i, j] = 255
    return mask


@numba.njit(cache=True, nogil=True)
def refine_edge(
    frame: Image,
    background: Float32Array,
    gain: float,
    person: Float32Array,
    weight: Float32Array,
    band: Mask,
    mask: Image,
) -> None:
    """Decide the pixels along the edge by the share of the person in their colour.

    A pixel on the edge is a mixture ``a * person + (1 - a) * background`` of two known colours. `a` is found by least
    squares, and the pixel is foreground when `a` is at least one half.

    Parameters
    ----------
    frame, background
        (h, w, c); the background times `gain` is what the frame would show without the person.
    person, weight
        (h, w, c) and (h, w): the person's colour near each pixel is ``person / weight``; unknown where `weight` is 0.
    band
        (h, w), non-zero on the pixels to decide.
    mask
        (h, w), changed in place where `band` is set and the person's colour known: 255 foreground, 0 not.
    """
    height, width, channels = background.shape
    for i in range(height):
        for j in range(width):
            if band[i, j] == 0 or weight[i, j] == 0.0:
                continue
            cross = 0.0
            square = 0.0
            for k in range(channels):
                behind = background[i, j, k] * gain
                contrast = person[i, j, k] / weight[i, j] - behind
                cross += (frame[i, j, k] - behind) * contrast
                square += contrast * contrast
            mask[i, j] = 255 if 2.0 * cross >= square else 0
