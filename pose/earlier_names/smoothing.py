"""The earlier name of `pose.series.smoothing`, for programs that import it from here."""

from pose.series.smoothing import (
    INDEPENDENT,
    LONGEST_STEP,
    ORDERS,
    PROCESS_NOISE,
    VAGUE,
    PredictionError,
    fit_process_noise,
    kalman_smooth,
    log_likelihood,
    smooth,
)

__all__ = [
    "INDEPENDENT",
    "LONGEST_STEP",
    "ORDERS",
    "PROCESS_NOISE",
    "VAGUE",
    "PredictionError",
    "fit_process_noise",
    "kalman_smooth",
    "log_likelihood",
    "smooth",
]
