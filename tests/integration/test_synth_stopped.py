"""The making of a data set stopped half-way: by a fault, a full disk or another run; the same request goes on."""

import re
import resource

import pytest
from folder_digests import digests

from pose.errors import UnfinishedError
from pose.synth import synthesize


class StopError(Exception):
    pass


def stop_at(share):
    def on_progress(done, total, what):
        if done >= share * total:
            raise StopError(what)

    return on_progress


def test_a_stopped_run_goes_on_where_it_was(tmp_path, one_camera):
    request = {"actions": ("Box", "Jog"), "n_frames": 24, "seed": 2, "cameras": one_camera}
    whole = digests(synthesize(tmp_path / "whole", **request))
    out, part = tmp_path / "set", tmp_path / ".set.part"
    out.mkdir()  # an empty folder is as good as none
    with pytest.raises(StopError):
        synthesize(out, **request, on_progress=stop_at(0.7))
    assert not list(out.iterdir())
    finished = {path.name: path.stat().st_mtime_ns for path in part.rglob("*.avi") if not path.name.startswith(".")}
    assert len(finished) >= 3
    (part / "S1/Image_Data/.Jog_1_(C2).part.avi").write_bytes(b"killed while it was written")
    begun = []
    synthesize(out, **request, on_progress=lambda done, total, what: begun.append(done / total))
    assert digests(out) == whole
    kept = {path.name: path.stat().st_mtime_ns for path in out.rglob("*.avi")}
    assert {name: kept[name] for name in finished} == finished
    assert begun[0] > 0.2
    assert not part.exists()


def test_a_stopped_run_with_other_settings_is_started_anew(tmp_path, one_camera):
    out = tmp_path / "set"
    with pytest.raises(StopError):
        synthesize(out, actions=("Box",), n_frames=24, seed=2, cameras=one_camera, on_progress=stop_at(0.7))
    request = {"actions": ("Box",), "n_frames": 24, "seed": 3, "cameras": one_camera}
    assert digests(synthesize(out, **request)) == digests(synthesize(tmp_path / "other", **request))


def test_two_runs_do_not_make_one_set(tmp_path, one_camera):
    request = {"actions": ("Box",), "n_frames": 24, "cameras": one_camera}
    told = []

    def another(*_):
        with pytest.raises(UnfinishedError, match="set: another run is making it; wait for it") as caught:
            synthesize(tmp_path / "set", **request)
        told.append(caught.value)

    synthesize(tmp_path / "set", **request, on_progress=another)
    assert told
    assert digests(tmp_path / "set") == digests(synthesize(tmp_path / "other", **request))


def test_a_full_disk_is_said_and_the_same_request_goes_on(tmp_path, one_camera):
    request = {"actions": ("Box",), "n_frames": 24, "cameras": one_camera}
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, usual[1]))  # of a file: motion capture and videos are larger
    try:
        with pytest.raises(UnfinishedError) as caught:
            synthesize(tmp_path / "set", **request)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert re.fullmatch(
        r".*/set: cannot be written \((File too large|only a part of it was; is the disk full\?)\); what is finished "
        r"stays in \.set\.part beside it, the same command goes on from there",
        str(caught.value),
    )
    assert digests(synthesize(tmp_path / "set", **request)) == digests(synthesize(tmp_path / "whole", **request))
