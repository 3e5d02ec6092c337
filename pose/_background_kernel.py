"""Numba kernels of the background model: one pass over the pixels of a frame, without temporaries.

``nogil`` and single-threaded: callers run one video per thread.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]


@numba.njit(cache=True, nogil=True)
def _explained(
    frame: Bytes,
    means: Floats,
    precisions: Floats,
    log_norms: Floats,
    threshold: float,
    scale: float,
    shadow_low: float,
    shadow_high: float,
    i: int,
    j: int,
    logs: npt.NDArray[np.float64],
) -> bool:
    """Whether the background, in light or in shadow, gives pixel (i, j) times `scale` at least the threshold.

    One pass over the channels gives the three sums that both answers need: the squared distance to the mean, and to the
    mean times the best brightness factor, ``cross / square``. `logs` (r,) is work space.
    """
    n_recordings, _, _, channels = means.shape
    best = -np.inf
    shadowed = False
    for r in range(n_recordings):
        own = 0.0
        cross = 0.0
        square = 0.0
        for k in range(channels):
            value = frame[i, j, k] * scale
            mean = np.float64(means[r, i, j, k])
            weighted = mean * precisions[r, i, j, k]
            own += value * value * precisions[r, i, j, k]
            cross += value * weighted
            square += mean * weighted
        logs[r] = log_norms[r, i, j] - 0.5 * (own - 2.0 * cross + square)
        best = max(best, logs[r])
        if shadow_low * square <= cross <= shadow_high * square and square > 0.0:
            shadowed |= log_norms[r, i, j] - 0.5 * (own - cross * cross / square) >= threshold
    # The summed density lies between its largest term and n_recordings times that: exponentials only in doubt.
    if best >= threshold or shadowed:
        return True
    if best + np.log(n_recordings) < threshold:
        return False
    total = 0.0
    for r in range(n_recordings):
        total += np.exp(logs[r] - best)
    return bool(best + np.log(total) >= threshold)


@numba.njit(cache=True, nogil=True)
def classify(
    frame: Bytes,
    likely: Bytes,
    means: Floats,
    precisions: Floats,
    log_norms: Floats,
    threshold: float,
    gain: float,
    shadow_low: float,
    shadow_high: float,
) -> Bytes:
    """Mark the pixels that the background does not explain.

    Parameters
    ----------
    frame
        (h, w, c).
    likely
        (h, w), non-zero where the pixel is known to be background and need not be looked at.
    means, precisions
        (r, h, w, c): mean and 1/variance for each recording.
    log_norms
        (r, h, w): log of the normal density at its mean, summed over channels, minus log r.
    threshold
        Log density below which a pixel is foreground.
    gain
        Brightness of this frame relative to the means.
    shadow_low, shadow_high
        Range of the brightness factor accepted as shadow; empty (low > high) to accept none.

    Returns
    -------
    (h, w) uint8, 255 where foreground.
    """
    n_recordings, height, width, _ = means.shape
    mask = np.zeros((height, width), np.uint8)
    logs = np.empty(n_recordings)
    scale = 1.0 / gain
    for i in range(height):
        for j in range(width):
            if likely[i, j] == 0 and not _explained(
                frame, means, precisions, log_norms, threshold, scale, shadow_low, shadow_high, i, j, logs
            ):
                mask[i, j] = 255
    return mask


@numba.njit(cache=True, nogil=True)
def refine_edge(
    frame: Bytes, background: Floats, gain: float, person: Floats, weight: Floats, band: Bytes, mask: Bytes
) -> None:
    """Decide the pixels along the edge by how much of the person they show.

    A pixel on the edge is a mixture ``a * person + (1 - a) * background`` of two known colours; `a` is the
    least-squares share, and the pixel is foreground when it is at least one half.

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
