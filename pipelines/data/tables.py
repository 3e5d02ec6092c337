"""The tables of `pose data info` and `pose data check`."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table

from pipelines.data.check_result import DataCheck
from pipelines.data.info import DataInfo, totals
from pose.humaneva.clock import CAMERA_ORDER


def frames_table(info: DataInfo) -> Table:
    """Frames by trial and camera."""
    table = _table("frames", "trial", "camera", ("named", "valid", "used", "in video"))
    for row in info.frames:
        numbers = (row.named, row.valid, row.used, row.announced or "")
        table.add_row(row.trial, row.camera or "none", *map(str, numbers))
    return table


def partitions_table(info: DataInfo) -> Table:
    """Frames by scheme and partition."""
    table = _table("partitions", "scheme", "partition", ("trials", "frames", "valid", "x cameras", "mocap alone"))
    for scheme, counts in info.counts.items():
        for total in totals(counts):
            numbers = (total.trials, total.instants, total.valid, total.images, total.mocap_frames or "")
            table.add_row(scheme, total.partition, *map(str, numbers))
        table.add_section()
    return table


def check_tables(check: DataCheck) -> list[Table]:
    """The tables of calibration, clocks, bone lengths and videos, without empty ones."""
    tables = [_calibrations(check), _clocks(check), _bones(check), _videos(check)]
    return [table for table in tables if table.row_count]


def _calibrations(check: DataCheck) -> Table:
    table = _table("calibration", "subject", "camera", ("focal, px", "centre, m", "room's middle, px"))
    for row in check.calibrations:
        table.add_row(
            row.subject,
            row.camera,
            "{:.0f} {:.0f}".format(*row.focal),
            "{:.2f} {:.2f} {:.2f}".format(*row.centre),
            "{:.0f} {:.0f}".format(*row.aim),
        )
    return table


def _clocks(check: DataCheck) -> Table:
    cameras = [name for name in CAMERA_ORDER if any(name in row.first_video_frame for row in check.syncs)]
    table = _table(
        "clock: first video frames, those published, mocap frame and rate",
        "trial",
        None,
        (*cameras, "known", "T0", "s", "near", "shift"),
    )
    for row in check.syncs:
        table.add_row(
            row.trial,
            *(str(row.first_video_frame.get(name, "")) for name in cameras),
            " ".join(map(str, row.published.values())) if row.published else "",
            f"{row.mocap_start:.2f}",
            f"{row.mocap_per_frame:.5f}",
            "" if row.near is None else f"{row.near:.1%}",
            "" if row.shift is None else f"{row.shift:+d}" if row.shift else "0",
        )
    return table


def _bones(check: DataCheck) -> Table:
    table = _table("bone lengths", "trial", None, ("valid", "wrong", "worst bone", "mm", "usual"))
    for row in check.bones:
        lengths = (f"{row.median:.0f}", f"{row.reference:.0f}")
        table.add_row(row.trial, str(row.valid), str(row.implausible), row.worst, *lengths)
    return table


def _videos(check: DataCheck) -> Table:
    table = _table("videos", "trial", "camera", ("header", "decoded", "needed", "size", "Hz"))
    for row in check.videos:
        counts = (row.announced or "", row.decoded, row.needed or "")
        table.add_row(row.trial, row.camera, *map(str, counts), "{} x {}".format(*row.size), f"{row.rate:g}")
    return table


def _table(title: str, first: str, second: str | None, numbers: tuple[str, ...]) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in (first, second):
        if name is not None:
            table.add_column(name, no_wrap=True)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table
