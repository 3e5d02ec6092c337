"""Conversion of predicted poses between file formats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipelines.errors import UsageError
from pipelines.progress import Reporter
from pose.errors import DataError
from pose.export import FORMATS, RATES, metadata_path, read_series, write_series

FORMAT_NAMES = tuple(dict.fromkeys(suffix[1:] for suffix in FORMATS if suffix != ".hdf5"))
"""Formats of poses, as `--to` names them."""
AXES = ("native", "y-up")
"""Axes, as `--axes` names them."""


def export_files(
    inputs: Sequence[Path],
    reporter: Reporter,
    *,
    to: str | None = None,
    out: Path | None = None,
    axes: str | None = None,
    rate: float | None = None,
    overwrite: bool = False,
) -> list[str]:
    """Convert files; one that fails does not stop the others.

    Parameters
    ----------
    inputs : sequence of Path
    reporter : Reporter
    to : str, optional
        Name of a format; by default, the format that the ending of `out` names.
    out : Path, optional
        Folder, made if missing, or a file; by default each result stands beside its input.
    axes, rate
        See `pose.export.write_series`.
    overwrite : bool
        Replace files that are there.

    Returns
    -------
    list of str
        One message per file that failed; the reporter got each as it occurred.

    Raises
    ------
    UsageError
        If the request cannot be met; nothing has been written then.
    """
    jobs = _jobs(inputs, to, out)
    _check(jobs, axes, rate, overwrite)
    faults = []
    for source, target in jobs.items():
        try:
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise DataError(f"{target.parent}: the folder cannot be made ({error.strerror or error})") from error
            series = read_series(source)
            n_frames = write_series(target, series, axes=axes, rate=rate)
        except DataError as error:
            text = str(error)
            # An error in writing names the target alone, so the source is put before it.
            faults.append(text if str(source) in text else f"{source}: {text}")
            reporter.fault(faults[-1])
            continue
        reporter.say(f"{source} -> {target}: {n_frames} frames of {len(series.skeleton)} joints")
    return faults


def _jobs(inputs: Sequence[Path], to: str | None, out: Path | None) -> dict[Path, Path]:
    """The target of each source."""
    if to is not None and to.lower().lstrip(".") not in FORMAT_NAMES:
        raise UsageError(f"--to {to}: there are {', '.join(FORMAT_NAMES)}")
    suffix = None if to is None else f".{to.lower().lstrip('.')}"
    is_file = out is not None and out.suffix.lower() in FORMATS and not out.is_dir()
    if out is not None and is_file:
        if len(inputs) > 1:
            raise UsageError(f"--out {out}: is one file, but there are {len(inputs)} inputs; name a folder")
        if suffix is not None and FORMATS[suffix] != FORMATS[out.suffix.lower()]:
            raise UsageError(f"--out {out}: its name says another format than --to {to}")
        return {inputs[0]: out}
    if suffix is None:
        raise UsageError(f"which format? --to {', '.join(FORMAT_NAMES)}")
    if out is not None and out.exists() and not out.is_dir():
        raise UsageError(f"--out {out}: is a file of no known format; name a folder")
    return {source: (out or source.parent) / f"{source.stem}{suffix}" for source in inputs}


def _check(jobs: dict[Path, Path], axes: str | None, rate: float | None, overwrite: bool) -> None:
    """Raise one error that names all faults of a request."""
    faults = []
    if axes is not None and axes not in AXES:
        faults.append(f"--axes {axes}: there are {', '.join(AXES)}")
    if rate is not None and not RATES[0] <= rate <= RATES[1]:
        faults.append(f"--rate {rate:g}: {RATES[0]:g} to {RATES[1]:g} frames a second")
    missing = [str(source) for source in jobs if not source.is_file()]
    if missing:
        faults.append(f"no such file: {', '.join(missing)}")
    foreign = [str(source) for source in jobs if source.is_file() and source.suffix.lower() not in FORMATS]
    if foreign:
        faults.append(f"{', '.join(foreign)}: the names of poses end in {', '.join(FORMATS)}")
    targets = [str(target) for target in jobs.values()]
    twice = sorted({target for target in targets if targets.count(target) > 1})
    if twice:
        faults.append(f"several inputs would become {', '.join(twice)}")
    itself = [
        str(source) for source, target in jobs.items() if target.exists() and source.resolve() == target.resolve()
    ]
    if itself:
        faults.append(f"{', '.join(itself)}: would replace itself; name another --out")
    there = [
        str(path)
        for target in jobs.values()
        for path in (target, *([metadata_path(target)] if target.suffix.lower() == ".csv" else []))
        if path.exists() and str(target) not in itself
    ]
    if there and not overwrite:
        faults.append(f"already there: {', '.join(there)}; choose another folder, or --overwrite")
    if faults:
        raise UsageError("; ".join(faults))
