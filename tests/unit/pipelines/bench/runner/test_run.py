"""A benchmark from the request to its tables: what is measured, what is kept, what is shown."""

import json
import shutil
import sys

import numpy as np
import pytest

from gbcd import SOLVERS
from pipelines import cli
from pipelines.bench.data.problems import Catalogue
from pipelines.bench.peers import PEERS
from pipelines.bench.runner import run as bench
from pipelines.bench.runner.cell import Cell, Column, Comparison, Row, Run, Table
from pipelines.bench.runner.lock import locked
from pipelines.bench.runner.pictures import panels
from pipelines.bench.runner.results_file import Results, medians, spreads
from pipelines.bench.runner.sheets import below, screen_table, sheet
from pipelines.bench.tables import solvers
from pipelines.errors import UsageError
from pipelines.progress import Silent
from pose.errors import DataError

# A task that leaves a mark each time it is done, so that a test can count.
TASKS = """
import time
from pathlib import Path
import numpy as np
from pipelines.bench.runner.cell import Finding, Job

def work(parameters, data, seed):
    with (Path(__file__).parent / "done.txt").open("a") as marks:
        marks.write(parameters["name"] + "\\n")
    if parameters["name"] == "bad":
        raise RuntimeError("[red] a|b")
    def sleep():
        time.sleep(600 if parameters["name"] == "slow" else 0)
    value = parameters["value"]
    return Job(sleep, lambda _: Finding({"value": value + seed}, {"values": np.arange(3.0) * seed + value}))
"""
HEADING = {"benchmark": "b", "size": "full", "version": "1", "machine": {}, "figure": ""}
DONE = Run("done", 1.0, {"seconds": 0.5, "value": 1.0})
COLUMNS = (Column("value", "value", ".1f"), Column("difference", "difference", ".1f"))


def cell(name, value=0.0):
    return Cell("bench_fakes:work", {"name": name, "value": value})


def table(*cells):
    compared = (Comparison("difference", "values", cells[0], lambda a, b: float(np.abs(a - b).max())),)
    rows = [Row((c.parameters["name"],), c, comparisons=compared) for c in cells]
    return Table("Fakes", ("what",), COLUMNS, (*rows, Row(("elsewhere",), None, "needs --data")), "A note.")


def fakes(*cells, draw=None):
    return bench.Benchmark("Fakes.", lambda size, catalogue: [table(*cells)], draw)


@pytest.fixture
def start(tmp_path, monkeypatch):
    (tmp_path / "bench_fakes.py").write_text(TASKS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    out = tmp_path / "out"

    def call(*cells, **options):
        monkeypatch.setitem(bench.BENCHMARKS, "fakes", fakes(*cells))
        (tmp_path / "done.txt").write_text("")
        outcome = bench.run_benchmark("fakes", out, Silent(), **options)
        return outcome.sheets[0].rows, outcome.failed, (tmp_path / "done.txt").read_text().split()

    call.out = out
    return call


def test_each_cell_is_measured_and_written(start):
    rows, failed, done = start(cell("a", 1.0), cell("b", 3.0), cell("a", 1.0))
    assert (failed, done) == (0, ["a", "b"])
    assert rows == [
        ["a", "1.0", "0.0", ""],
        ["b", "3.0", "2.0", ""],
        ["a", "1.0", "0.0", ""],
        ["elsewhere", "–", "–", "needs --data"],
    ]
    held = json.loads((start.out / "fakes-full.json").read_text())
    assert [entry["parameters"]["name"] for entry in held["cells"]] == ["a", "b"]
    assert held["tables"][0]["rows"] == rows
    text = (start.out / "RESULTS.md").read_text()
    assert "| b | 3.0 | 2.0 |  |" in text
    assert "| what | value | difference |  |\n| --- | ---: | ---: | --- |" in text
    assert held["machine"]["numpy"] == np.__version__
    assert str(start.out) not in text + json.dumps(held)


def test_a_later_run_measures_only_what_is_new(start):
    start(cell("a", 1.0))
    assert start(cell("a", 1.0), cell("b"))[2] == ["b"]
    assert start(cell("a", 1.0), cell("b"), overwrite=True)[2] == ["a", "b"]
    assert start(cell("a", 2.0))[2] == ["a"]
    assert start(cell("a", 2.0), size="quick")[2] == ["a"]
    text = (start.out / "RESULTS.md").read_text()
    assert "## fakes, full" in text
    assert "## fakes, quick" in text


def test_repeated_measurements_give_medians_and_go_on_from_those_there(start):
    start(cell("a"))
    assert "`pose bench fakes --size full`" in (start.out / "RESULTS.md").read_text()
    rows, _, done = start(cell("a"), repeat=3)
    assert "`pose bench fakes --size full --repeat 3`" in (start.out / "RESULTS.md").read_text()
    assert done == ["a", "a"]
    assert rows[0] == ["a", "1.0", "0.0", ""]  # the seeds are 0, 1 and 2


def test_what_took_too_long_is_tried_again_with_more_time_only(start):
    rows, failed, done = start(cell("slow"), limit=0.2, repeat=3)
    assert rows[0] == ["slow", "/", "/", "not done in 0.2 s"]
    assert (failed, done) == (0, ["slow"])
    assert start(cell("slow"), limit=0.1)[2] == []
    assert start(cell("slow"), limit=0.3)[2] == ["slow"]


def test_what_failed_is_counted_shown_and_tried_again(start):
    for _ in range(2):
        rows, failed, done = start(cell("bad"), cell("a"))
        assert rows[0] == ["bad", "–", "–", "RuntimeError: [red] a|b"]
        assert (failed, done[0]) == (1, "bad")
    assert "RuntimeError: [red] a\\|b" in (start.out / "RESULTS.md").read_text()


def test_results_of_another_version_are_not_mixed_in(start):
    start(cell("a"))
    path = start.out / "fakes-full.json"
    held = json.loads(path.read_text())
    path.write_text(json.dumps({**held, "version": "0.0.1"}))
    with pytest.raises(UsageError, match="another version or machine; --overwrite"):
        start(cell("a"))
    assert start(cell("a"), overwrite=True)[2] == ["a"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": "huge"}, "--size huge: there are full, quick"),
        ({"repeat": 0}, "--repeat 0"),
        ({"limit": 0.0}, "--limit 0"),
        ({"limit": float("nan")}, "--limit nan"),
    ],
)
def test_requests_that_cannot_be(start, options, message):
    with pytest.raises(UsageError, match=message):
        start(cell("a"), **options)


def test_the_command_answers_in_one_line_and_a_code(start, tmp_path, monkeypatch, capsys):
    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["pose", "bench", *map(str, arguments)])
        code = 0
        try:
            cli.main()
        except SystemExit as exit_:
            code = exit_.code or 0
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    code, _, err = command("nothing")
    assert (code, err) == (
        2,
        "error: nothing: there is no such benchmark, but table2, table3, table4, table5, figure1, figure2, figure3, "
        "figure4, solvers, shapes, and all\n",
    )
    code, _, err = command("solvers", "--data", tmp_path / "nowhere")
    assert code == 2
    assert err.count("\n") == 1
    monkeypatch.setitem(bench.BENCHMARKS, "fakes", fakes(cell("a", 1.0)))
    code, out, err = command("fakes", "--out", tmp_path / "results")
    assert code == 0
    assert "Fakes" in out
    assert "needs --data: elsewhere" in out
    assert err.startswith("a: ")
    monkeypatch.setitem(bench.BENCHMARKS, "fakes", fakes(cell("bad")))
    code, out, err = command("fakes", "--out", tmp_path / "results")
    assert code == 1
    assert "RuntimeError: [red] a|b: bad" in out
    assert err.splitlines()[-1] == "error: 1 of the measurements failed; the tables say how"
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "arm8.csv").write_text("1,2\n3,4\n")
    monkeypatch.setitem(bench.BENCHMARKS, "fakes", fakes(cell("a", 1.0)))
    code, out, err = command("fakes", "--out", tmp_path / "results", "--data", tmp_path / "data")
    assert code == 1
    fault = f"{tmp_path / 'data'}: the file arm8 has the name of a problem that is made here; rename it"
    assert err.splitlines() == [f"error: {fault}", f"error: left out: {fault}"]


def test_medians_of_numbers_words_and_truths():
    measures = [
        {"x": 1, "word": "p", "true": True, "none": None},
        {"x": 5, "word": "q", "true": False, "none": None},
        {"x": 2, "word": "q", "true": True, "none": None},
    ]
    assert medians([Run("done", 1.0, m) for m in measures]) == {"x": 2, "word": "p", "true": False, "none": None}


def test_what_is_not_measured_yet_or_not_converged_is_said():
    measured = Run("done", 1.0, {"value": 2.0, "converged": False, "remark": "by gbcd"})
    filled = sheet(table(cell("a"), cell("b")), [None, measured, Run("unavailable", 0.0, remark="[x]")])
    assert filled.rows[0] == ["a", "", "", "not measured yet"]
    assert filled.rows[1] == ["b", "2.0", "–", "above the tolerance; by gbcd"]
    assert len(screen_table(filled).columns) == 3
    assert below(filled) == [
        "A note.",
        "not measured yet: a",
        "above the tolerance; by gbcd: b",
        "[x]: elsewhere",
    ]


def test_the_solvers_benchmark_asks_for_what_there_is(tmp_path):
    catalogue = Catalogue(None, tmp_path / "fitted.json", Silent())
    full, quick = solvers.tables("full", catalogue), solvers.tables("quick", catalogue)
    assert len(full) == len(quick) == 6
    missing = {row.labels[0] for made in full for row in made.rows if row.cell is None}
    assert missing == {"kin40k", "calhouse", "histosc", "histosc_like"}
    assert {row.labels[0] for made in quick for row in made.rows} == {"friedman1", "arm8", "friedman1_45"}
    for made in (*full, *quick):
        assert all(len(row.labels) == len(made.labels) for row in made.rows)
        for row in made.rows:
            if row.cell is not None:
                wanted = row.cell.parameters
                assert wanted.get("solver", "gbcd") in SOLVERS
                assert wanted.get("peer", "scipy") in PEERS
                assert wanted["problem"]["n"] <= (10_000 if made in quick else 100_000)
                assert str(tmp_path) not in row.cell.key


def test_a_picture_is_made_of_the_arrays_and_shown(start, monkeypatch):
    drawn = []

    def draw(tables, results):
        drawn.append(results.arrays(tables[0].rows[0].cell)["values"])
        return panels(1, 1, "A title")[0]

    start(cell("a", 1.0))
    monkeypatch.setitem(bench.BENCHMARKS, "fakes", fakes(cell("a", 1.0), draw=draw))
    bench.run_benchmark("fakes", start.out, Silent(), overwrite=True)
    np.testing.assert_array_equal(drawn[0], [1, 1, 1])
    assert (start.out / "fakes-full.png").read_bytes().startswith(b"\x89PNG")
    assert "![fakes](fakes-full.png)" in (start.out / "RESULTS.md").read_text()


def test_measurements_of_other_splits_give_a_mean_and_a_deviation():
    runs = [Run("done", 1.0, {"value": value, "points": 2, "converged": True}) for value in (1.0, 2.0, 6.0)]
    summary = Run("done", 1.0, medians(runs) | spreads(runs))
    columns = (
        Column("median", "value", ".1f"),
        Column("spread", "value", ".1f", spread=True),
        Column("each", "value", ".2f", per="points"),
        Column("nothing", "value", ".2f", per="absent"),
    )
    filled = sheet(Table("T", ("what",), columns, (Row(("a",), cell("a")),)), [summary])
    # (1 + 2 + 6) / 3 = 3; the squares of -2, -1, 3 over 2 are 7.
    assert filled.rows[0] == ["a", "2.0", "3.0 ± 3", "1.00", "–", ""]
    assert spreads(runs[:1]) == {}


def test_results_keep_the_cells_of_other_tables(tmp_path):
    results = Results(tmp_path / "b-full.json", HEADING, overwrite=False)
    results.put(cell("a"), [DONE])
    results.write([])
    again = Results(tmp_path / "b-full.json", HEADING, overwrite=False)
    assert again.runs(cell("a")) == [DONE]
    assert again.runs(cell("b")) == []


def test_a_second_run_in_the_folder_measures_nothing(start):
    start(cell("a"))
    with locked(start.out), pytest.raises(UsageError, match="another run measures here"):
        start(cell("a"), cell("b"))
    assert start(cell("a"), cell("b"))[2] == ["b"]


def changed(held, *keys, to):
    """A copy of JSON values with one of them replaced."""
    copy = json.loads(json.dumps(held))
    inner = copy
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = to
    return json.dumps(copy)


RUN = ("cells", 0, "runs", 0)
DAMAGE = [
    (lambda held: "", "Expecting value"),
    (lambda held: "[]", "an object"),
    (lambda held: "[" * 100_000, "recursion"),
    (lambda held: json.dumps(held)[:-9], "delimiter|Expecting"),
    (lambda held: changed(held, "format", to=1), "format"),
    (lambda held: changed(held, "cells", 0, to={}), r"cells\.0\.task"),
    (lambda held: changed(held, "cells", to=7), "cells"),
    (lambda held: changed(held, "tables", to=3), "tables"),
    (lambda held: changed(held, "tables", 0, to="x"), r"tables\.0"),
    (lambda held: changed(held, "tables", 0, "n_labels", to=9), "more labels than columns"),
    (lambda held: changed(held, "tables", 0, "rows", 0, to=["a"]), "rows of different lengths"),
    (lambda held: changed(held, "tables", 0, "rows", 0, to=[1, 2, 3, 4]), r"tables\.0\.rows"),
    (lambda held: changed(held, "machine", to=None), "machine"),
    (lambda held: changed(held, "figure", to="../x.png"), "figure"),
    (lambda held: changed(held, *RUN, "outcome", to="perhaps"), "outcome"),
    (lambda held: changed(held, *RUN, "limit", to="long"), "limit"),
    (lambda held: changed(held, *RUN, "measures", to=[1]), "measures"),
    (lambda held: changed(held, *RUN, "measures", to={}), "has no seconds"),
    (lambda held: changed(held, *RUN, "measures", "seconds", to="1"), "has no seconds"),
    (lambda held: changed(held, *RUN, "measures", "value", to=[1.0]), "value"),
    (lambda held: changed(held, *RUN, "measures", "value", to=10**400), "value"),
    (lambda held: changed(held, *RUN, "measures", "value", to=float("nan")), "not JSON compliant"),
    (lambda held: changed(held, *RUN, "measures", "value", to="x"), "value of a is 'x', not a number"),
    (lambda held: changed(held, *RUN, "measures", "value", to=True), "value of a is True, not a number"),
]


@pytest.mark.parametrize(("damage", "why"), DAMAGE)
def test_a_damaged_results_file_is_named(tmp_path, damage, why):
    path = tmp_path / "b-full.json"
    whole = Results(path, HEADING, overwrite=False)
    whole.put(cell("a"), [DONE])
    whole.write([table(cell("a"))])
    Results(path, HEADING, overwrite=False).check([table(cell("a"))])
    path.write_text(damage(json.loads(path.read_text())))
    with pytest.raises(DataError, match=why) as caught:
        Results(path, HEADING, overwrite=False).check([table(cell("a"))])
    message = str(caught.value)
    assert message.startswith(f"{path}: not a results file of this version (")
    assert message.endswith("); --overwrite replaces it")
    assert "\n" not in message


def test_a_damaged_results_file_stops_its_benchmark_and_is_replaced_on_request(start):
    start.out.mkdir()
    path = start.out / "fakes-full.json"
    path.write_text("{}")
    with pytest.raises(DataError, match=r"fakes-full\.json: not a results file"):
        start(cell("a"))
    assert start(cell("a"), overwrite=True)[2] == ["a"]
    assert start(cell("a"))[2] == []
    path.unlink()
    path.mkdir()
    with pytest.raises(DataError, match=r"fakes-full\.json: cannot be read \(Is a directory\)"):
        start(cell("a"))


def test_a_damaged_file_of_another_benchmark_is_a_fault_and_no_obstacle(start, monkeypatch):
    monkeypatch.setattr(bench, "BENCHMARKS", {"others": fakes(cell("b")), "fakes": fakes(cell("a"))})
    damaged = start.out / "others-full.json"
    start.out.mkdir()
    damaged.write_text("{}")
    for name, shown in (("fakes", 1), (bench.ALL, 1)):
        outcome = bench.run_benchmark(name, start.out, Silent())
        assert len(outcome.sheets) == shown
        assert [fault.split(" (")[0] for fault in outcome.left_out] == [
            f"{damaged}: not a results file of this version"
        ]
        text = (start.out / "RESULTS.md").read_text()
        assert "## fakes, full" in text
        assert "## others, full" not in text
    outcome = bench.run_benchmark(bench.ALL, start.out, Silent(), overwrite=True)
    assert (len(outcome.sheets), outcome.left_out) == (2, [])


@pytest.mark.parametrize("damage", ["deleted", "truncated", "empty", "of another"])
def test_arrays_that_are_gone_or_damaged_are_measured_again(start, damage):
    start(cell("a", 1.0), cell("b", 3.0), repeat=2)
    held = json.loads((start.out / "fakes-full.json").read_text())
    for path in (start.out / "fakes-full.arrays").iterdir():
        if damage == "deleted":
            path.unlink()
        elif damage == "of another":
            np.savez(path, other=np.ones(3))
        else:
            path.write_bytes(path.read_bytes()[:100] if damage == "truncated" else b"")
    rows, _, done = start(cell("a", 1.0), cell("b", 3.0), repeat=2)
    assert done == ["a", "b"]  # the first measurement of each: it is the one whose arrays are kept
    assert [row[1:3] for row in rows[:2]] == [["1.5", "0.0"], ["3.5", "2.0"]]
    again = json.loads((start.out / "fakes-full.json").read_text())
    assert [len(entry["runs"]) for entry in again["cells"]] == [2, 2]
    assert again["cells"][0]["runs"][1] == held["cells"][0]["runs"][1]
    assert start(cell("a", 1.0), cell("b", 3.0), repeat=2)[2] == []


def test_a_picture_is_never_drawn_of_arrays_that_are_gone(start, monkeypatch):
    def draw(tables, results):
        assert "values" in results.arrays(tables[0].rows[0].cell)
        return panels(1, 1, "A title")[0]

    alone = Table("Fakes", ("what",), COLUMNS, (Row(("a",), cell("a")),))
    monkeypatch.setitem(bench.BENCHMARKS, "fakes", bench.Benchmark("Fakes.", lambda *_: [alone], draw, ("values",)))
    bench.run_benchmark("fakes", start.out, Silent())
    shutil.rmtree(start.out / "fakes-full.arrays")
    bench.run_benchmark("fakes", start.out, Silent())
