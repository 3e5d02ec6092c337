"""The command's request: what it says of motion files."""

from motion_texts import bvh_text

from pipelines.data.synthesize import SynthRequest, synthesize_with_progress
from pipelines.progress import Silent
from pose.body.cal_file import write_cal
from pose.synth import takes
from pose.synth.pictures.rig import default_cameras


class Lines(Silent):
    def __init__(self):
        self.lines = []

    def say(self, text):
        self.lines.append(text)


def test_it_says_which_action_came_of_which_file(tmp_path, monkeypatch):
    monkeypatch.setattr(takes, "_BACKGROUND_FRAMES", 3)
    (tmp_path / "calibration").mkdir()
    write_cal(tmp_path / "calibration/C1.cal", default_cameras()["C1"])
    frames = tuple({"LeftArm": (3 * k, 0, 0)} for k in range(40))
    for name in ("02_01.bvh", "kick.bvh"):
        (tmp_path / name).write_text(bvh_text(frames=frames))
    motions = [str(tmp_path / name) for name in ("02_01.bvh", "kick.bvh")]
    reporter = Lines()
    request = SynthRequest(motions=motions, cameras=tmp_path / "calibration", n_frames=24, masks="none", jobs=1)
    synthesize_with_progress(tmp_path / "set", reporter, request)
    assert reporter.lines == ["actions: Clip from 02_01.bvh, Kick from kick.bvh"]
