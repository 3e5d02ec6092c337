"""Other ways than the toolkit's to divide trial 1 into training and test frames.

Frames are never drawn at random. Neighbours at 60 Hz are nearly equal, so a test frame whose neighbours were trained
on would measure memory.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from pose.errors import MissingFile
from pose.humaneva.partitions import PARTITION_NAMES, Partitions, Ranges
from pose.humaneva.trial import Trial
from pose.types import IntArray

OFFICIAL, TGP_HALF, BLOCKED = "official", "tgp-half", "blocked-75-25"
SCHEMES = (OFFICIAL, TGP_HALF, BLOCKED)
#: Toolkit frames between training and test: half a second.
GAP = 30
#: The trial whose motion capture is damaged; public conversions leave it out.
_DAMAGED = ("S3", "ThrowCatch", 1)


def partition_names(scheme: str) -> tuple[str, ...]:
    """Names of a scheme's partitions."""
    return PARTITION_NAMES if scheme == OFFICIAL else ("Train", "Test")


def evaluated_partition(scheme: str) -> str:
    """The partition that errors are reported on: the one with motion capture that a model is not trained on."""
    return "Validate" if scheme == OFFICIAL else "Test"


def ranges_of(trial: Trial, scheme: str) -> Ranges:
    """Toolkit frames of every partition of one trial, divided by a scheme.

    ``"official"``
        The partitions of the table.
    ``"tgp-half"``
        The first half of a trial's valid frames is Test, the second half is Train (Bo & Sminchisescu, "Twin Gaussian
        Processes for Structured Prediction", IJCV 87, 2010).
    ``"blocked-75-25"``
        The first 75 % of a trial's valid frames are Train and the rest is Test, less a gap of 30 frames between the
        two. S3 ThrowCatch is left out. No split that can be defined is nearer to 26,572 training and 8,757 test images.

    The last two schemes divide first trials only, and take the table's Train and Validate together.

    Parameters
    ----------
    trial : Trial
        With the partitions of the table.
    scheme : str

    Returns
    -------
    mapping
        Ranges by partition; none where the scheme leaves the trial out.

    Raises
    ------
    ValueError
        If there is no such scheme.
    MissingFile, DataError
        If a file is missing or faulty.
    """
    if scheme not in SCHEMES:
        raise ValueError(f"there is no scheme {scheme!r} to split by: {', '.join(SCHEMES)}")
    if scheme == OFFICIAL:
        return trial.partitions
    spans = [trial.partitions[name] for name in ("Train", "Validate") if name in trial.partitions]
    left_out = scheme == BLOCKED and (trial.subject.name, trial.action, trial.number) == _DAMAGED
    if trial.number != 1 or not spans or left_out:
        return {}
    numbers = np.unique(np.concatenate([np.arange(first, last + 1) for first, last in spans]))
    labels = trial.labels(numbers)
    valid = labels.numbers[labels.usable]
    return _halves(valid) if scheme == TGP_HALF else _blocks(valid)


def divided(trial: Trial, scheme: str) -> Trial:
    """The trial with its partitions by a scheme; parameters and errors are those of `ranges_of`."""
    ranges = ranges_of(trial, scheme)
    return trial if ranges is trial.partitions else replace(trial, partitions=ranges)


def split(trials: Iterable[Trial], scheme: str) -> Partitions:
    """Divide trials by a scheme, see `ranges_of`.

    Returns
    -------
    mapping
        Ranges by (subject, "Action trial"); a trial whose motion capture is missing is left out with a warning.

    Raises
    ------
    ValueError
        If there is no such scheme.
    DataError
        If a file is faulty.
    """
    table: dict[tuple[str, str], Ranges] = {}
    for trial in trials:
        try:
            ranges = ranges_of(replace(trial), scheme)  # a copy, so that the trial does not keep its motion capture
        except MissingFile as error:
            warnings.warn(f"{trial.name} is left out of {scheme}: {error}", stacklevel=2)
            continue
        if ranges:
            table[trial.subject.name, f"{trial.action} {trial.number}"] = ranges
    return table


def _halves(valid: IntArray) -> Ranges:
    half = len(valid) // 2
    return _ranges(Test=valid[:half], Train=valid[half:])


def _blocks(valid: IntArray) -> Ranges:
    train = valid[: 3 * len(valid) // 4]
    rest = valid[len(train) :]
    return _ranges(Train=train, Test=rest[rest > train[-1] + GAP] if len(train) else rest[:0])


def _ranges(**parts: IntArray) -> Ranges:
    return {name: (int(frames[0]), int(frames[-1])) for name, frames in parts.items() if len(frames)}
