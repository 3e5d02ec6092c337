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
def _log_density(
    frame: Bytes,
    means: Floats,
    precisions: Floats,
    log_norms: Floats,
    r: int,
    i: int,
    j: int,
    scale: float,
    factor: float,
) -> float:
    """Log density of pixel (i, j), times `scale`, under recording r with its mean times `factor`."""
    distance = 0.0
    for k in range(means.shape[3]):
        difference = frame[i, j, k] * scale - factor * means[r, i, j, k]
        distance += difference * difference * precisions[r, i, j, k]
    return float(log_norms[r, i, j] - 0.5 * distance)


@numba.njit(cache=True, nogil=True)
def _explains(
    frame: Bytes, means: Floats, precisions: Floats, log_norms: Floats, threshold: float, i: int, j: int, scale: float
) -> bool:
    """Whether the density of pixel (i, j), summed over the recordings, reaches the threshold."""
    n_recordings = means.shape[0]
    best = -np.inf
    for r in range(n_recordings):
        best = max(best, _log_density(frame, means, precisions, log_norms, r, i, j, scale, 1.0))
    # The sum lies between its largest term and n_recordings times that: exponentials only where this leaves a doubt.
    if best >= threshold:
        return True
    if best + np.log(n_recordings) < threshold:
        return False
    total = 0.0
    for r in range(n_recordings):
        total += np.exp(_log_density(frame, means, precisions, log_norms, r, i, j, scale, 1.0) - best)
    return bool(best + np.log(total) >= threshold)


@numba.njit(cache=True, nogil=True)
def _brightness(frame: Bytes, means: Floats, precisions: Floats, r: int, i: int, j: int, scale: float) -> float:
    """Least-squares factor between the mean of recording r and pixel (i, j); 0 where the mean is black."""
    cross = 0.0
    square = 0.0
    for k in range(means.shape[3]):
        weighted = means[r, i, j, k] * precisions[r, i, j, k]
        cross += frame[i, j, k] * scale * weighted
        square += means[r, i, j, k] * weighted
    return cross / square if square > 0.0 else 0.0


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
    scale = 1.0 / gain
    for i in range(height):
        for j in range(width):
            if likely[i, j] != 0:
                continue
            explained = _explains(frame, means, precisions, log_norms, threshold, i, j, scale)
            if explained:
                continue
            for r in range(n_recordings):
                factor = _brightness(frame, means, precisions, r, i, j, scale)
                explained = explained or (
                    shadow_low <= factor <= shadow_high
                    and _log_density(frame, means, precisions, log_norms, r, i, j, scale, factor) >= threshold
                )
            if not explained:
                mask[i, j] = 255
    return mask


@numba.njit(cache=True, nogil=True)
def refine_edge(
    frame: Bytes, background: Floats, gain: float, person: Floats, weight: Floats, band: Bytes, mask: Bytes
) -> None:
    """Decide the pixels along the edge by how much of the person they show.

    A pixel on the edge is a mixture ``a * person + (1 - a) * background`` of two known colours; `a` is the least-squares
    share, and the pixel is foreground when it is at least one half.

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
