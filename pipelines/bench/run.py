"""Runs a benchmark: cell by cell, resumable, with its tables written after each measurement."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from pipelines.bench import solvers
from pipelines.bench.cell import Cell, Run, Size, Table
from pipelines.bench.machine import describe_machine
from pipelines.bench.problems import Catalogue
from pipelines.bench.process import measure_apart
from pipelines.bench.report import Sheet, write_markdown
from pipelines.bench.results import Results, read_results
from pipelines.errors import UsageError
from pipelines.files import atomic_path
from pipelines.progress import Reporter

Benchmark = Callable[[Size, Catalogue], list[Table]]

BENCHMARKS: dict[str, Benchmark] = {"solvers": solvers.tables}
SIZES: dict[str, Size] = {"full": "full", "quick": "quick"}

FITS = "fitted.json"
REPORT = "RESULTS.md"


def run_benchmark(
    name: str,
    out: Path,
    reporter: Reporter,
    *,
    size: str = "full",
    data: Path | None = None,
    repeat: int = 1,
    limit: float = 1800.0,
    overwrite: bool = False,
) -> tuple[list[Sheet], int]:
    """Measure what has not been measured yet; write NAME-SIZE.json and RESULTS.md in `out` after each measurement.

    Parameters
    ----------
    name : str
        One of `BENCHMARKS`.
    out : Path
        Made if need be.
    reporter : Reporter
    size : str
        One of `SIZES`.
    data : Path or None
        The folder of data; rows that need it are left empty without it.
    repeat : int
        Measurements of each cell; tables show medians.
    limit : float
        Seconds for each.
    overwrite : bool
        Measure all anew.

    Returns
    -------
    list of Sheet
        The tables.
    int
        How many cells failed.

    Raises
    ------
    UsageError
        For a request that cannot be.
    DataError
        For data or results that cannot be read or written.
    """
    _check(name, size, data, repeat, limit, out)
    out.mkdir(parents=True, exist_ok=True)
    heading = {
        "benchmark": name,
        "size": size,
        "version": version("gbcd-pose"),
        "machine": describe_machine(),
    }
    results = Results(out / f"{name}-{size}.json", heading, overwrite)
    tables = BENCHMARKS[name](SIZES[size], Catalogue(data, out / FITS, reporter))
    cells = _cells(tables)
    for done, (what, cell) in enumerate(cells):
        reporter.progress("cells", done, len(cells))
        runs = [run for run in results.runs(cell) if _still_holds(run, limit)]
        while len(runs) < repeat and all(run.outcome == "done" for run in runs):
            runs.append(_measure(cell, data, len(runs), limit, results.arrays_path(cell)))
            reporter.say(f"{what}: {_in_words(runs[-1])}")
            results.put(cell, runs)
            results.write(tables)
            _write_report(out)
    reporter.progress("cells", len(cells), len(cells))
    results.write(tables)
    _write_report(out)
    failed = sum(any(run.outcome == "error" for run in results.runs(cell)) for _, cell in cells)
    return results.sheets(tables), failed


def _check(name: str, size: str, data: Path | None, repeat: int, limit: float, out: Path) -> None:
    if name not in BENCHMARKS:
        raise UsageError(f"{name}: there is no such benchmark, but {', '.join(BENCHMARKS)}")
    if size not in SIZES:
        raise UsageError(f"--size {size}: there are {', '.join(SIZES)}")
    if data is not None and not data.is_dir():
        raise UsageError(f"--data {data}: no such folder")
    if repeat < 1:
        raise UsageError(f"--repeat {repeat}: must be 1 or more")
    if not 0 < limit <= 1e7:
        raise UsageError(f"--limit {limit:g}: must be a number of seconds above 0")
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out}: is a file, a folder is needed")


def _cells(tables: list[Table]) -> list[tuple[str, Cell]]:
    """Return each cell once, with words for it."""
    found: dict[str, tuple[str, Cell]] = {}
    for table in tables:
        for row in table.rows:
            if row.cell is not None:
                found.setdefault(row.cell.key, (", ".join(row.labels), row.cell))
    return list(found.values())


def _still_holds(run: Run, limit: float) -> bool:
    """Whether an earlier measurement stands: what failed may do better now, what took too long with more time."""
    return run.outcome == "done" or (run.outcome == "limit" and run.limit >= limit)


def _measure(cell: Cell, data: Path | None, seed: int, limit: float, arrays: Path) -> Run:
    """Measure once; arrays are kept of the first time."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "arrays.npz"
        run = measure_apart(cell, data, seed, limit, found)
        if seed == 0 and run.outcome == "done" and found.exists():
            arrays.parent.mkdir(exist_ok=True)
            with atomic_path(arrays) as temporary:
                shutil.copyfile(found, temporary)
    return run


def _in_words(run: Run) -> str:
    return f"{run.measures['seconds']:.1f} s" if run.outcome == "done" else run.remark


def _write_report(out: Path) -> None:
    """Write RESULTS.md from all benchmarks that have results here."""
    files = [out / f"{name}-{size}.json" for size in SIZES for name in BENCHMARKS]
    write_markdown(out / REPORT, [read_results(path) for path in files if path.exists()])
