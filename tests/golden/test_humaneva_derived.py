"""What other tools would make of the reference set, read back: frames, units and errors must be those of the reader."""

import numpy as np
import pytest
import scipy.io

from pose.body.skeleton import HUMANEVA_15, HUMANEVA_20, joints_15_from_20
from pose.humaneva import HumanEva
from pose.humaneva.converted_mat import read_converted_tree
from pose.humaneva.converted_npz import chunk_numbers, read_chunks_3d
from pose.humaneva.result_xml import SequenceResult, read_result, write_result
from pose.series.metrics import PoseErrors, toolkit_joint_errors

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def sequence(shared):
    return HumanEva(shared / "humaneva-like" / "dev" / "HumanEva_I").trial("S1", "Box", 1)


@pytest.fixture(scope="module")
def truth(shared):
    with np.load(shared / "humaneva-like" / "dev" / "truth" / "joints_S1_Box.npz") as file:
        return {name: file[name] for name in ("joints", "valid")}


def test_a_conversion_of_the_truth_is_what_the_reader_says(sequence, truth, tmp_path):
    """Rows of converted_15j, with the invalid ones NaN, and the chunks of the same, metres in a pickle."""
    for partition, (first, last) in sequence.partitions.items():
        rows = slice(first - 1, last)
        poses = np.where(truth["valid"][rows, None, None], truth["joints"][rows], np.nan)
        folder = tmp_path / "converted_15j" / partition / "S1"
        folder.mkdir(parents=True)
        scipy.io.savemat(folder / "Box_1.mat", {"poses_3d": poses})
    n_valid = 0
    content = {}
    for trial in read_converted_tree(tmp_path / "converted_15j"):
        labels = sequence.labels(trial.numbers({("S1", "Box 1"): sequence.partitions}))
        assert (trial.valid == labels.usable).all()
        errors = PoseErrors(labels.joints[labels.usable], trial.joints[trial.valid], {}).means()
        assert max(errors.values()) < 1  # mm
        n_valid += trial.valid.sum()
        content[f"{trial.partition}/S1"] = {
            f"Box 1 chunk{index}": trial.joints[np.isin(labels.numbers, numbers)].astype(np.float32) / 1000
            for index, numbers in chunk_numbers(labels.numbers, labels.usable).items()
        }
    path = tmp_path / "data_3d_humaneva15.npz"
    np.savez_compressed(path, positions_3d=np.array(content, dtype=object))
    chunks = read_chunks_3d(path, allow_pickle=True)
    assert sum(len(chunk.joints) for chunk in chunks) == n_valid == truth["valid"].sum()
    for chunk in chunks:
        labels = sequence.labels(sequence.numbers(chunk.partition))
        numbers = chunk_numbers(labels.numbers, labels.usable)[chunk.chunk]
        assert np.abs(chunk.joints - truth["joints"][numbers - 1]).max() < 1e-3


def test_a_result_of_the_toolkits_points(sequence, truth, tmp_path):
    numbers = sequence.numbers("Validate")
    labels = sequence.labels(numbers, HUMANEVA_20)
    true, moved = labels.joints[labels.usable], labels.joints[labels.usable] + [0, 3, 4]
    errors = toolkit_joint_errors(moved, true).mean(axis=1)
    assert errors == pytest.approx(5)
    write_result(
        tmp_path / "result.xml",
        SequenceResult("S1", "Box", 1, "Validate", numbers[labels.usable], moved, HUMANEVA_20, errors),
    )
    read = read_result(tmp_path / "result.xml")
    joints = joints_15_from_20(read.joints)
    means = PoseErrors(joints, truth["joints"][read.numbers - 1], {}, HUMANEVA_15).means()
    assert means["absolute"] == pytest.approx(5, abs=0.5)
    assert means["relative"] == pytest.approx(0, abs=0.5)
    assert means["aligned"] == pytest.approx(0, abs=0.5)
