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
def _mixture(frame: Bytes, means: Floats, precisions: Floats, log_norms: Floats, i: int, j: int, scale: float) -> float:
    """Log of the summed densities of pixel (i, j) over the recordings."""
    best = -np.inf
    for r in range(means.shape[0]):
        best = max(best, _log_density(frame, means, precisions, log_norms, r, i, j, scale, 1.0))
    total = 0.0
    for r in range(means.shape[0]):
        total += np.exp(_log_density(frame, means, precisions, log_norms, r, i, j, scale, 1.0) - best)
    return float(best + np.log(total))


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
            # One recording that explains the pixel suffices, and nearly always the first one does.
            explained = False
            for r in range(n_recordings):
                explained = explained or (
                    _log_density(frame, means, precisions, log_norms, r, i, j, scale, 1.0) >= threshold
                )
            if explained or _mixture(frame, means, precisions, log_norms, i, j, scale) >= threshold:
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
def _mean_colour(frame: Bytes, core: Bytes, i: int, j: int, radius: int, colour: npt.NDArray[np.float64]) -> bool:
    """Average the core pixels within `radius` of (i, j) into `colour` (c,); False if there are none."""
    height, width, channels = frame.shape
    n = 0
    colour[:] = 0.0
    for a in range(max(0, i - radius), min(height, i + radius + 1)):
        for b in range(max(0, j - radius), min(width, j + radius + 1)):
            if core[a, b] != 0:
                n += 1
                for k in range(channels):
                    colour[k] += frame[a, b, k]
    if n > 0:
        colour /= n
    return n > 0


@numba.njit(cache=True, nogil=True)
def refine_edge(
    frame: Bytes, background: Floats, gain: float, core: Bytes, band: Bytes, mask: Bytes, radius: int
) -> None:
    """Decide the pixels along the edge by how much of the person they show.

    A pixel on the edge is a mixture ``a * person + (1 - a) * background``. The person's colour is the mean of the core
    pixels within `radius`, the background's is known; `a` is the least-squares share, and the pixel is foreground when
    it is at least one half. `mask` (h, w) is changed where `band` is set; pixels without core pixels near by stay.
    """
    height, width, channels = background.shape
    person = np.empty(channels)
    for i in range(height):
        for j in range(width):
            if band[i, j] == 0 or not _mean_colour(frame, core, i, j, radius, person):
                continue
            cross = 0.0
            square = 0.0
            for k in range(channels):
                behind = background[i, j, k] * gain
                contrast = person[k] - behind
                cross += (frame[i, j, k] - behind) * contrast
                square += contrast * contrast
            mask[i, j] = 255 if 2.0 * cross >= square else 0
