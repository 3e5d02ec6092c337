"""The report page: what it says is what the evaluation holds, and nothing in it is fetched or becomes markup."""

import base64
import dataclasses
import io
import json
import re
from html.parser import HTMLParser

import matplotlib
import numpy as np
import pytest
from made_evaluation import make_evaluation
from matplotlib.figure import Figure

from pipelines.evaluation.page import save_page
from pipelines.evaluation.page.build import render
from pipelines.evaluation.page.charts import distribution_chart
from pipelines.evaluation.page.frames import pictures
from pipelines.evaluation.page.tracks import viewer_data

VOID = {"meta", "link", "input", "br"}


@pytest.fixture(scope="module")
def evaluation():
    return make_evaluation()


class Page(HTMLParser):
    """Tags must close in order; collects text, tags and addresses."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.tags, self.addresses = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in {"src", "href", "action", "data", "poster"}]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] not in {"script", "style"}:
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def test_the_numbers_are_the_evaluations(evaluation):
    page = Page(render(evaluation, "my.h5", {"software": "gbcd-pose 0.1.0"}))
    assert "my.h5 on Validate" in page.text
    assert "240 images" in page.text
    assert "3 more show nobody" in page.text
    means, aligned = evaluation.means(), evaluation.means("aligned")
    assert f"GBCD (exact) {means['gbcd']:.1f} mm aligned {aligned['gbcd']:.1f} mm" in page.text
    for column in ("action", "camera", "subject"):
        for name, errors in evaluation.by(column).items():
            count = evaluation.errors["gbcd"].counts(column)[name]
            assert f"{name} {count} " + " ".join(f"{error:.1f}" for error in errors.values()) in page.text
    for name, errors in evaluation.by_joint().items():
        assert name.replace("_", " ") + " " + " ".join(f"{error:.1f}" for error in errors.values()) in page.text
    assert "software gbcd-pose 0.1.0" in page.text


def test_nothing_is_fetched(evaluation):
    text = render(evaluation, "my.h5", {})
    page = Page(text)
    assert page.addresses == ["data:,"]
    assert "default-src 'none'" in text
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|https?://", text)


def test_names_do_not_become_markup():
    evil = "</script><img src=x onerror=alert(1)>&\"'"
    page = Page(render(make_evaluation(20, action=evil), evil, {evil: evil}))
    assert "img" not in page.tags
    assert page.tags.count("script") == 2
    assert page.text.count(evil) > 5


def test_calibration_appears_with_standard_deviations(evaluation):
    without = Page(render(evaluation, "my.h5", {}))
    assert "alibration" not in without.text
    assert "ntervals" not in without.text
    # The errors are normal with 20 mm, but for one coordinate of 14 joints of one image of 240.
    std = np.full((240, 15, 3), 20.0)
    std[:, 0] = 0  # the root's
    known = dataclasses.replace(evaluation, std=std)
    text = render(known, "my.h5", {})
    shares = re.search(
        r"Calibration: 50% intervals hold ([0-9.]+)%, 90% .* ([0-9.]+)%, 95% .* ([0-9.]+)%", text
    ).groups()
    np.testing.assert_allclose(np.array(shares, dtype=float), [50, 90, 95], atol=1.5)
    shown = Page(text).text
    assert "Distribution and calibration" in shown
    assert f"90 % intervals {shares[1]} % hold" in shown
    rows = known.intervals()
    for row in (rows["action"]["Walking"], rows["joint"]["left_wrist"]):
        cells = [f"{100 * value:.1f}" for key, value in row.items() if key != "std_mm"]
        assert " ".join([*cells, "20.0"]) in shown


def test_drawings_leave_colours_to_the_style_sheet_and_are_shorter_than_matplotlibs(evaluation):
    errors = evaluation.errors["gbcd"].poses("absolute")
    figure = Figure(figsize=(3.8, 2.5))
    axes = figure.subplots()
    for _ in range(3):
        axes.plot(np.sort(errors)[np.linspace(0, len(errors) - 1, 60).astype(int)], np.linspace(0, 100, 60))
    axes.set(xlabel="mean joint error of an image below, mm", ylabel="% of images")
    theirs = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        figure.savefig(theirs, format="svg")
    ours = distribution_chart(evaluation)
    assert len(ours) < 0.35 * len(theirs.getvalue())
    colour = re.compile(r"#[0-9a-f]{3,6}|rgb|style=|fill=|stroke=")
    assert colour.search(theirs.getvalue())
    for drawing in (ours, *(picture.drawing for shown in pictures(evaluation) for picture in shown)):
        assert not colour.search(drawing)


def test_worst_and_best_frames_are_apart(evaluation):
    worst, best = pictures(evaluation)
    assert worst[0].place == "S2 Walking 1, C2, frame 119"
    assert worst[0].error == pytest.approx(300 * 14 / 15, abs=5)
    errors = evaluation.errors["gbcd"].poses("absolute")
    assert best[0].error == pytest.approx(errors.min())
    for shown in (worst, best):
        assert 2 <= len(shown) <= 6
        found = [re.fullmatch(r"(S\d) Walking 1, C\d, frame (\d+)", picture.place).groups() for picture in shown]
        frames = {subject: sorted(int(f) for s, f in found if s == subject) for subject, _ in found}
        assert all((np.diff(numbers) >= 60).all() for numbers in frames.values())
    assert [p.error for p in worst] == sorted((p.error for p in worst), reverse=True)


@pytest.mark.parametrize("axes", ["camera", "world"])
def test_pictures_stay_inside(axes):
    for shown in pictures(make_evaluation(130, axes)):
        for picture in shown:
            numbers = [float(n) for n in re.findall(r' [xy][12]="([-0-9.]+)"', picture.drawing)]
            contour = re.findall(r"[ML]([-0-9.]+) ([-0-9.]+)", picture.drawing)
            assert len(contour) == 41
            assert len(numbers) == 4 * 14 * 2
            assert min(float(n) for pair in contour for n in pair) >= 0
            assert min(numbers) > -150  # a wrong pose may leave its picture, the true one lies on the silhouette
            assert max(float(x) for x, _ in contour) <= (150 if axes == "camera" else 75)


@pytest.mark.parametrize(("axes", "turned"), [("camera", [1, -1, -1]), ("world", None)])
def test_the_view_gets_the_poses(axes, turned):
    evaluation = make_evaluation(40, axes)
    data = viewer_data(evaluation)
    assert (data["every"], len(data["tracks"])) == (1, 4)
    track = data["tracks"][0]
    assert track["name"] == "S1 Walking 1, C1"
    assert track["frames"] == list(range(0, 20, 2))
    poses = np.frombuffer(base64.b64decode(track["predicted"]), "<i2").reshape(-1, 15, 3)
    given = evaluation.predictions["gbcd"][0:20:2]
    expected = given * turned if turned else np.stack([given[..., 0], given[..., 2], -given[..., 1]], axis=-1)
    np.testing.assert_allclose(poses, expected, atol=0.5)
    np.testing.assert_allclose(track["errors"], evaluation.errors["gbcd"].poses("absolute")[0:20:2], atol=0.05)
    json.dumps(data)


def test_long_evaluations_are_thinned():
    data = viewer_data(make_evaluation(9000))
    assert data["every"] == 3
    assert sum(len(track["frames"]) for track in data["tracks"]) == 3000
    assert len(json.dumps(data)) < 1.2e6


def test_one_sample_and_no_error_at_all(tmp_path):
    evaluation = make_evaluation(2)
    evaluation.predictions.update(dict.fromkeys(evaluation.predictions, evaluation.samples.poses))
    save_page(tmp_path / "a.html", dataclasses.replace(evaluation, std=np.zeros((2, 15, 3))), "my.h5", {})
    Page((tmp_path / "a.html").read_text(encoding="utf-8"))
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]
