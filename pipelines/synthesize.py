"""The embedded data set, with progress."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipelines.progress import Reporter
from pose.synth import DEFAULT_FRAMES, synthesize


def synthesize_with_progress(
    out: Path,
    reporter: Reporter,
    *,
    subjects: Sequence[str] = ("S1",),
    actions: Sequence[str] = ("Walking", "Jog", "Box"),
    n_frames: int = DEFAULT_FRAMES,
    seed: int = 0,
    overwrite: bool = False,
) -> Path:
    """Call `pose.synth.synthesize`, one progress bar over all of its files."""
    return synthesize(
        out,
        subjects=subjects,
        actions=actions,
        n_frames=n_frames,
        seed=seed,
        overwrite=overwrite,
        on_progress=lambda done, total, _: reporter.progress("drawing", done, total),
    )
