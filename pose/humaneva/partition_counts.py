"""How many frames each partition of a trial has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pose.errors import MissingFile
from pose.humaneva.trial import Trial


@dataclass(frozen=True)
class PartitionCount:
    """Frames of one partition of one trial.

    Parameters
    ----------
    subject, action : str
    trial : int
    partition : str
    first, last : int
        Toolkit frames, inclusive.
    instants, valid : int
        Number of frames, and number of frames with valid motion capture and every joint known.
    cameras : tuple of str
        The wanted cameras that have a video and an offset.
    fault : str
        Why no frame is valid, if a file is missing.
    """

    subject: str
    action: str
    trial: int
    partition: str
    first: int
    last: int
    instants: int
    valid: int
    cameras: tuple[str, ...]
    fault: str = ""

    @property
    def images(self) -> int:
        """Valid frames times cameras."""
        return self.valid * len(self.cameras)


def count_frames(trial: Trial, cameras: tuple[str, ...]) -> list[PartitionCount]:
    """The counts of every partition of a trial, in the order of their frames.

    Raises
    ------
    DataError
        If a file is faulty.
    """
    rows = []
    for partition, (first, last) in sorted(trial.partitions.items(), key=lambda item: item[1]):
        numbers = trial.numbers(partition)
        fault, n_valid = "", 0
        used: tuple[str, ...] = ()
        try:
            used = tuple(c for c in cameras if c in trial.videos and c in trial.clock.first_video_frame)
            n_valid = int(trial.labels(numbers).usable.sum())
        except MissingFile as error:
            fault = str(error)
        rows.append(
            PartitionCount(
                trial.subject.name,
                trial.action,
                trial.number,
                partition,
                first,
                last,
                len(numbers),
                n_valid,
                used,
                fault,
            )
        )
    return rows


def format_counts(counts: Iterable[PartitionCount]) -> str:
    """The counts as lines of text, with the totals of every partition at the end."""
    counts = list(counts)
    lines = [f"{'trial':<18} {'partition':<9} {'frames':>11} {'instants':>8} {'valid':>6} {'images':>7}  cameras"]
    for row in counts:
        name = f"{row.subject} {row.action} {row.trial}"
        span = f"{row.first}-{row.last}"
        lines.append(
            f"{name:<18} {row.partition:<9} {span:>11} {row.instants:>8} {row.valid:>6} {row.images:>7}  "
            f"{row.fault or ' '.join(row.cameras)}"
        )
    for partition in dict.fromkeys(row.partition for row in counts):
        rows = [row for row in counts if row.partition == partition]
        instants, valid, images = (sum(getattr(row, key) for row in rows) for key in ("instants", "valid", "images"))
        lines.append(f"{'all':<18} {partition:<9} {'':>11} {instants:>8} {valid:>6} {images:>7}")
    return "\n".join(lines)
