"""README, CONTRIBUTING and the pages in docs/: their code runs, and the names and paths they mention exist."""

import importlib
import re
import warnings

import numpy as np
import pytest
from films import figure, scene, walk, write_film
from places import REPOSITORY
from sklearn.exceptions import ConvergenceWarning

from pose.body.camera import Camera
from pose.body.skeleton import HUMANEVA_15
from pose.export import write_series
from pose.series.pose_series import PoseSeries
from pose.synth import synthesize

if not (REPOSITORY / "README.md").exists():
    pytest.skip("not in a copy of the repository", allow_module_level=True)

PAGES = sorted(
    path
    for path in [
        REPOSITORY / "README.md",
        REPOSITORY / "CONTRIBUTING.md",
        *(REPOSITORY / "data").glob("*.md"),
        *(REPOSITORY / "docs").rglob("*.md"),
    ]
    if "generated" not in path.parts
)
TEXTS = {str(path.relative_to(REPOSITORY)): path.read_text(encoding="utf-8") for path in PAGES}
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
TUTORIAL = "docs/tutorials/regression.md"
# Files that other tools made of the licensed release are not here: of such a page the imports alone run.
NEEDS_OTHER_DATA = {"data/README.md"}
DOTTED = re.compile(r"\b(?:gbcd|pose|pipelines)(?:\.[A-Za-z_]\w*)+")
PATH = re.compile(r"`((?:gbcd|pose|pipelines|configs|docs|examples|tests|data|\.ci)/[\w./*-]*)`")
SUFFIXES = {"py", "md", "toml", "json", "csv", "h5", "avi", "mp4", "npz", "cal", "html", "png", "c3d", "trc"}


@pytest.fixture
def names(tmp_path, monkeypatch, small_model):
    """Data for the pages' code, in an empty folder that holds the files it reads."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = np.sin(X).sum(axis=1) + rng.normal(0, 0.1, len(X))
    joints = rng.normal(0, 300, (4, 15, 3))
    series = PoseSeries(np.arange(4), np.arange(4) / 60, joints, HUMANEVA_15, "camera", {}, np.full(joints.shape, 20.0))
    camera = Camera("C1", np.eye(3), np.zeros(5), np.eye(3), np.zeros(3))
    (tmp_path / "results").mkdir()
    write_series(tmp_path / "results" / "clip.h5", series)
    (tmp_path / "my.h5").write_bytes(small_model.read_bytes())
    write_film(tmp_path / "clip.avi", walk(6))
    write_film(tmp_path / "empty_room.avi", [scene()])
    return {
        "X": X,
        "y": y,
        "X_new": X[:4] + 0.1,
        "groups": np.arange(len(X)) // 10,
        "length_scale": 3.0,
        "l": 2.0,
        "c2": 1.5,
        "s2": 0.1,
        "masks": [figure(step) for step in range(6)],
        "mask": figure(0),
        "other": figure(5),
        "series_1": series,
        "series_2": series,
        "camera_1": camera,
        "camera_2": camera,
        "lengths": np.full(14, 300.0),
    }


@pytest.mark.parametrize("page", [page for page, text in TEXTS.items() if CODE.search(text) and page != TUTORIAL])
def test_the_code_of_a_page_runs(page, names, request):
    code = "\n".join(CODE.findall(TEXTS[page]))
    if page in NEEDS_OTHER_DATA:
        code = "\n".join(line for line in code.splitlines() if line.startswith(("from ", "import ")))
    if "HumanEva(" in code:
        tree = request.getfixturevalue("tree")
        code = re.sub(r'"(HumanEva_I|mydata)"', repr(str(tree)), code)
    for large, small in (("10_000", "200"), ("n_words=300", "n_words=20")):
        code = code.replace(large, small)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        exec(compile(code, page, "exec"), names)


def test_the_tutorial_of_the_regression_gives_what_it_says(names, tmp_path):
    before = set(tmp_path.iterdir())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        exec("\n".join(CODE.findall(TEXTS[TUTORIAL])), names)
    assert (names["std_observed"] > names["std"]).all()
    assert names["gp"].sample_y(names["X_new"], n_samples=3).shape == (4, 3)
    assert names["coef"].shape == (150, 1)
    assert names["search"].best_params_
    assert set(tmp_path.iterdir()) == before  # the checkpoint is gone


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return synthesize(tmp_path_factory.mktemp("tree") / "set", actions=("Walking",), n_frames=24, masks="none")


@pytest.mark.parametrize("page", TEXTS)
def test_the_names_that_a_page_mentions_exist(page):
    lacking = sorted({name for name in DOTTED.findall(TEXTS[page]) if not exists(name)})
    assert not lacking


@pytest.mark.parametrize("page", TEXTS)
def test_the_paths_that_a_page_mentions_exist(page):
    lacking = sorted({path for path in PATH.findall(TEXTS[page]) if not any(REPOSITORY.glob(path.rstrip("/")))})
    assert not lacking


@pytest.mark.parametrize("page", TEXTS)
def test_the_links_of_a_page_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", TEXTS[page])
    folder = (REPOSITORY / page).parent
    assert not [target for target in targets if not (folder / target).exists()]


@pytest.mark.parametrize("module", ["gbcd", "pose", "pose.series", "pose.humaneva"])
def test_the_reference_has_every_public_name(module):
    page = TEXTS[f"docs/reference/{module.split('.')[0]}.md"]
    public = [name for name in importlib.import_module(module).__all__ if not name.isupper()]
    assert not [name for name in public if f"   {name}\n" not in page]


def test_the_page_of_the_command_line_has_every_command_and_option(monkeypatch):
    monkeypatch.syspath_prepend(REPOSITORY / "docs" / "_ext")
    page = importlib.import_module("command_line").page()
    commands = re.findall(r"^## (pose .*)$", page, re.MULTILINE)
    assert {"pose train", "pose predict", "pose data check"} < set(commands)
    assert "`--background`, `-b` BACKGROUND\n: The empty scene" in page


def test_the_readme_is_a_front_door():
    assert len(TEXTS["README.md"].splitlines()) <= 100


def exists(name):
    """Whether a dotted name is a module or an attribute of one; names of files are not asked for."""
    parts = name.split(".")
    if parts[-1] in SUFFIXES:
        return True
    for cut in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        return True
    return False
