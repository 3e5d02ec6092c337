"""Running a benchmark: cell by cell, resumable, with the tables written after each measurement."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from matplotlib.figure import Figure

from pipelines.bench import shapes
from pipelines.bench.data.problems import Catalogue
from pipelines.bench.runner.cell import Cell, Run, Size, Table
from pipelines.bench.runner.lock import locked
from pipelines.bench.runner.machine import this_machine
from pipelines.bench.runner.pictures import save_figure
from pipelines.bench.runner.process import MeasuringProcess
from pipelines.bench.runner.results_check import StoredResults, read_results
from pipelines.bench.runner.results_file import Results
from pipelines.bench.runner.sheets import Sheet, write_markdown
from pipelines.bench.tables import figure1, figure2, figure3, figure4, solvers, table2, table3, table4, table5
from pipelines.errors import UsageError
from pipelines.progress import Reporter
from pose.errors import DataError
from pose.files import atomic_path


@dataclass(frozen=True)
class Benchmark:
    """One table or figure.

    Attributes
    ----------
    summary : str
        What the table or figure shows, in one line.
    tables : callable
    draw : callable or None
        Draws the picture of the results.
    drawn : tuple of str
        Names of the arrays that the picture needs from each cell.
    prepare : callable or None
        Makes the folder of data for the cells, in the folder of results, from the folder that the user gave.
    lacks : callable
        Takes the folder of data; returns words for the data that the benchmark needs and does not find there.
    """

    summary: str
    tables: Callable[[Size, Catalogue], list[Table]]
    draw: Callable[[list[Table], Results], Figure] | None = None
    drawn: tuple[str, ...] = ()
    prepare: Callable[[Size, Path, Path | None, Reporter], Path] | None = None
    lacks: Callable[[Path | None], str] = lambda folder: ""  # noqa: ARG005


BENCHMARKS: dict[str, Benchmark] = {
    "table2": Benchmark("training time and test error of dense solvers", table2.tables),
    "table3": Benchmark("predictive variances: time and error", table3.tables),
    "table4": Benchmark("sparse approximations against the exact process, on full training sets", table4.tables),
    "table5": Benchmark("poses from silhouettes: MPGP and the exact process", table5.tables, prepare=table5.prepare),
    "figure1": Benchmark("correlation of the gradients of neighbours", figure1.tables, figure1.draw, figure1.DRAWN),
    "figure2": Benchmark(
        "gradient norm, objective and test error against time", figure2.tables, figure2.draw, figure2.DRAWN
    ),
    "figure3": Benchmark("gradient norm and objective against iterations", figure3.tables, figure3.draw, figure3.DRAWN),
    "figure4": Benchmark("training time against the number of samples", figure4.tables, figure4.draw),
    "solvers": Benchmark("all solvers: kernel passes, time, memory, exactness", solvers.tables),
    "shapes": Benchmark("retrieval of the MPEG-7 silhouettes", shapes.tables, lacks=shapes.lacks),
}


@dataclass(frozen=True)
class Outcome:
    """The result of a run.

    Attributes
    ----------
    sheets : list of Sheet
        The tables.
    failed : int
        Number of cells whose measurement failed.
    left_out : list of str
        Faults of data sets and results that were left out; they have been reported.
    """

    sheets: list[Sheet]
    failed: int
    left_out: list[str]


SIZES: dict[str, Size] = {"full": "full", "quick": "quick"}
ALL = "all"

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
) -> Outcome:
    """Measure all cells not measured yet; write NAME-SIZE.json and RESULTS.md in `out` after each measurement.

    Parameters
    ----------
    name : str
        One of `BENCHMARKS`, or `ALL`.
    out : Path
        Folder for the results, made if missing.
    reporter : Reporter
    size : str
        One of `SIZES`.
    data : Path or None
        The folder of data; without it, rows that need it stay empty.
    repeat : int
        Number of measurements of each cell; tables show medians.
    limit : float
        Time limit of a measurement, seconds.
    overwrite : bool
        Measure all cells anew.

    Returns
    -------
    Outcome

    Raises
    ------
    UsageError
        If an argument is out of range.
    DataError
        If data or results cannot be read or written. With `ALL` this is reported as a fault, and the others go on.
    """
    _check(name, size, data, repeat, limit, out)
    asked_for = _asked_for(name, data, reporter)
    out.mkdir(parents=True, exist_ok=True)
    noting = _Noting(reporter)
    sheets: list[Sheet] = []
    failed = 0
    with locked(out):
        for each in asked_for:
            try:
                folder = _prepared(each, SIZES[size], out, data, noting, alone=name != ALL)
                session = _Session(each, SIZES[size], Catalogue(folder, out / FITS, noting), out, overwrite)
            except (DataError, UsageError) as error:
                if name != ALL:
                    raise
                noting.fault(str(error))
                continue
            # Quick benchmarks share a process: starting one takes longer than most of their cells.
            with MeasuringProcess(fresh=size == "full") as process:
                failed += session.measure(process, noting, folder, repeat, limit)
            sheets += session.sheets
    return Outcome(sheets, failed, noting.faults)


class _Noting:
    """A reporter that keeps the faults and reports each once: with `ALL`, every benchmark finds them again."""

    def __init__(self, inner: Reporter) -> None:
        self.say, self.progress, self._tell = inner.say, inner.progress, inner.fault
        self.faults: list[str] = []

    def fault(self, text: str) -> None:
        """Report and keep a fault, unless it is known."""
        if text not in self.faults:
            self.faults.append(text)
            self._tell(text)


def _prepared(name: str, size: Size, out: Path, data: Path | None, reporter: Reporter, alone: bool) -> Path | None:
    """The folder of data that a benchmark's cells get."""
    prepare = BENCHMARKS[name].prepare
    if prepare is None:
        return data
    # With `ALL`, the folder usually holds data sets for regression, and no tree for this benchmark.
    return prepare(size, out, data if alone or (data is not None and table5.is_tree(data)) else None, reporter)


class _Session:
    """One benchmark's run."""

    def __init__(self, name: str, size: Size, catalogue: Catalogue, out: Path, overwrite: bool) -> None:
        self._benchmark = BENCHMARKS[name]
        self._picture = out / f"{name}-{size}.png"
        heading = {
            "benchmark": name,
            "size": size,
            "version": version("gbcd-pose"),
            "machine": this_machine(),
            "figure": "" if self._benchmark.draw is None else self._picture.name,
        }
        self._results = Results(out / f"{name}-{size}.json", heading, overwrite)
        self._tables = self._benchmark.tables(size, catalogue)
        self._results.check(self._tables)

    @property
    def sheets(self) -> list[Sheet]:
        """The tables, filled in as far as they are measured."""
        return self._results.sheets(self._tables)

    def measure(
        self, process: MeasuringProcess, reporter: Reporter, data: Path | None, repeat: int, limit: float
    ) -> int:
        """Measure the missing cells, and return how many cells failed."""
        results = self._results
        cells = _cells(self._tables)
        lost = results.lost(self._tables, self._benchmark.drawn)
        for done, (what, cell) in enumerate(cells):
            reporter.progress("cells", done, len(cells))
            runs = [run for run in results.runs(cell) if _still_holds(run, limit)]
            if cell.key in lost:
                arrays = results.arrays_path(cell)
                reporter.say(f"{what}: {arrays.parent.name}/{arrays.name} is gone or damaged: measured again")
                runs[0] = _measure(process, cell, data, 0, limit, arrays)
                self._keep(what, cell, runs, runs[0], reporter)
            while len(runs) < repeat and all(run.outcome == "done" for run in runs):
                runs.append(_measure(process, cell, data, len(runs), limit, results.arrays_path(cell)))
                self._keep(what, cell, runs, runs[-1], reporter)
        reporter.progress("cells", len(cells), len(cells))
        if self._benchmark.draw is not None:
            save_figure(self._benchmark.draw(self._tables, results), self._picture)
        self._write(reporter)
        return sum(any(run.outcome == "error" for run in results.runs(cell)) for _, cell in cells)

    def _keep(self, what: str, cell: Cell, runs: list[Run], last: Run, reporter: Reporter) -> None:
        reporter.say(f"{what}: {_in_words(last)}")
        self._results.put(cell, runs)
        self._write(reporter)

    def _write(self, reporter: Reporter) -> None:
        self._results.write(self._tables)
        _write_report(self._results.path.parent, reporter)


def _check(name: str, size: str, data: Path | None, repeat: int, limit: float, out: Path) -> None:
    if name not in BENCHMARKS and name != ALL:
        raise UsageError(f"{name}: there is no such benchmark, but {', '.join(BENCHMARKS)}, and {ALL}")
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


def _asked_for(name: str, data: Path | None, reporter: Reporter) -> list[str]:
    """Return the names of the benchmarks to run; with `ALL`, those that have the data they need."""
    lacking = {each: lack for each in BENCHMARKS if (lack := BENCHMARKS[each].lacks(data))}
    if name == ALL:
        for each, lack in lacking.items():
            reporter.say(f"{each}: left out, {lack}")
        return [each for each in BENCHMARKS if each not in lacking]
    if name in lacking:
        raise UsageError(f"{name}: {lacking[name]}")
    return [name]


def _cells(tables: list[Table]) -> list[tuple[str, Cell]]:
    """Return each cell once, with its labels as text."""
    found: dict[str, tuple[str, Cell]] = {}
    for table in tables:
        for row in table.rows:
            if row.cell is not None:
                found.setdefault(row.cell.key, (", ".join(row.labels), row.cell))
    return list(found.values())


def _still_holds(run: Run, limit: float) -> bool:
    """Whether an earlier measurement is kept. One that failed, or was stopped at a shorter limit, is repeated."""
    return run.outcome == "done" or (run.outcome == "limit" and run.limit >= limit)


def _measure(process: MeasuringProcess, cell: Cell, data: Path | None, seed: int, limit: float, arrays: Path) -> Run:
    """Measure once; arrays are kept of the first repetition, seed 0."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "arrays.npz"
        run = process.measure(cell, data, seed, limit, found)
        if seed == 0 and run.outcome == "done" and found.exists():
            arrays.parent.mkdir(exist_ok=True)
            with atomic_path(arrays) as temporary:
                shutil.copyfile(found, temporary)
    return run


def _in_words(run: Run) -> str:
    return f"{run.measures['seconds']:.1f} s" if run.outcome == "done" else run.remark


def _write_report(out: Path, reporter: Reporter) -> None:
    """Write RESULTS.md from all results in the folder; report those that cannot be read."""
    held: list[StoredResults] = []
    for path in (out / f"{name}-{size}.json" for size in SIZES for name in BENCHMARKS):
        try:
            held += [read_results(path)] if path.exists() else []
        except DataError as error:
            reporter.fault(str(error))
    write_markdown(out / REPORT, held)
