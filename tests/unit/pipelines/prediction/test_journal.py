"""The journal: what was kept is found again, and nothing else."""

import os

import numpy as np
import pytest

from pipelines.prediction.journal import Journal
from pipelines.streaming.stream import BATCH, FramePose
from pose.errors import DataError
from pose.series.pose_series import Quality


def batch(first=0, n=BATCH, with_std=True):
    rng = np.random.default_rng(first)
    return [
        FramePose(
            first + k,
            (first + k) / 25,
            rng.normal(size=(2, 3)),
            rng.normal(size=(2, 3)) if with_std else None,
            Quality.TOUCHES_BORDER,
            0.1,
        )
        for k in range(n)
    ]


def open_journal(folder, run="run", with_std=True):
    return Journal(folder / ".a.pose-journal", run, 2, with_std)


@pytest.mark.parametrize("with_std", [True, False])
def test_what_was_kept_is_found_again(tmp_path, with_std):
    kept = [batch(0, with_std=with_std), batch(BATCH, with_std=with_std)]
    with open_journal(tmp_path, with_std=with_std) as journal:
        journal.append(kept[0])
    with open_journal(tmp_path, with_std=with_std) as journal:
        assert len(journal) == BATCH
        journal.append(kept[1])
        records = journal.records()
        poses = [pose for part in kept for pose in part]
        assert records["frame"].tolist() == list(range(2 * BATCH))
        np.testing.assert_array_equal(records["joints"], [pose.joints for pose in poses])
        assert (records["quality"] == Quality.TOUCHES_BORDER).all()
        if with_std:
            np.testing.assert_array_equal(records["std"], [pose.std for pose in poses])


def size_of(journal):
    return journal.path.stat().st_size


@pytest.mark.parametrize("damage", ["cut", "flipped", "zeros"])
def test_a_damaged_end_is_taken_off(tmp_path, damage):
    with open_journal(tmp_path) as journal:
        journal.append(batch(0))
        whole = size_of(journal)
        journal.append(batch(BATCH))
    content = bytearray(journal.path.read_bytes())
    if damage == "cut":
        content = content[:-5]
    elif damage == "flipped":
        content[-100] ^= 1
    else:
        content[whole + 1000 :] = bytes(len(content) - whole - 1000)
    journal.path.write_bytes(content)
    with open_journal(tmp_path) as journal:
        assert len(journal) == BATCH
        assert size_of(journal) == whole


@pytest.mark.parametrize("other", [{"run": "another"}, {"with_std": False}])
def test_another_run_begins_anew(tmp_path, other):
    with open_journal(tmp_path) as journal:
        journal.append(batch(0))
    with open_journal(tmp_path, **other) as journal:
        assert len(journal) == 0


@pytest.mark.parametrize("n_batches", [1, 40])
def test_nothing_of_another_run_moves_the_results(tmp_path, n_batches):
    with open_journal(tmp_path, run="before") as journal:
        for k in range(n_batches):
            journal.append(batch(k * BATCH))
    with open_journal(tmp_path) as journal:
        journal.append(batch(7))
        records = journal.records()
        assert records["frame"].tolist() == list(range(7, 7 + BATCH))
        np.testing.assert_array_equal(records["joints"], [pose.joints for pose in batch(7)])
    with open_journal(tmp_path) as journal:
        assert len(journal) == BATCH


def test_one_without_a_batch_does_not_stay(tmp_path):
    with open_journal(tmp_path):
        assert list(tmp_path.iterdir()) != []
    assert list(tmp_path.iterdir()) == []


def test_it_is_locked_until_its_run_ends(tmp_path):
    with (
        open_journal(tmp_path),
        pytest.raises(DataError, match="another run is writing the results a"),
        open_journal(tmp_path),
    ):
        pass
    with open_journal(tmp_path):  # free again
        pass


def test_a_lock_on_a_file_that_was_removed_meanwhile_is_no_lock(tmp_path, monkeypatch):
    """The other run removes its journal between our opening and our locking it."""
    first = open_journal(tmp_path)
    opened = os.open
    calls = []

    def open_then_remove(path, *rest):
        file = opened(path, *rest)
        calls.append(path)
        if len(calls) == 1:
            first.path.unlink()
        return file

    monkeypatch.setattr("pipelines.prediction.journal.os.open", open_then_remove)
    with first:
        assert len(calls) == 2
        assert first.path.exists()
