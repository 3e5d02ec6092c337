"""The toolkit's cache of a background model: read as Matlab writes it, and written as Matlab reads it."""

import numpy as np
import pytest
import scipy.io

from pose.errors import DataError
from pose.humaneva.files.background_cache import cache_name, read_background, write_background
from pose.silhouette.toolkit_background import ToolkitBackground


def cell(*arrays):
    content = np.empty((1, len(arrays)), dtype=object)
    for index, array in enumerate(arrays):
        content[0, index] = array
    return content


def picture(red, green, blue):
    return np.broadcast_to(np.array([red, green, blue]), (4, 5, 3)).astype(float)


def test_the_toolkits_own_file(tmp_path):
    """Its pictures are red, green, blue; frames here are blue, green, red."""
    path = tmp_path / cache_name("C1")
    assert path.name == "Background_(C1).mat"
    means, variances = picture(0.1, 0.2, 0.3), picture(1e-4, 2e-4, 3e-4)
    scipy.io.savemat(path, {"bg_means": cell(means, means, means), "bg_vars": cell(variances, variances, variances)})
    model = read_background(path, risk=1e60)
    assert model.risk == 1e60
    assert model.means.shape == (3, 4, 5, 3)
    assert model.means[2, 0, 0].tolist() == [0.3, 0.2, 0.1]
    assert model.variances[0, 3, 4].tolist() == [3e-4, 2e-4, 1e-4]
    assert read_background(path, source="ours") is None  # it does not say what it was made of


def test_what_is_written_is_read_and_is_what_matlab_expects(tmp_path):
    rng = np.random.default_rng(0)
    model = ToolkitBackground().set_state(rng.random((2, 4, 5, 3)), rng.random((2, 4, 5, 3)))
    path = tmp_path / "Background_(BW1).mat"
    write_background(path, model, source="abc")
    again = read_background(path, source="abc")
    np.testing.assert_array_equal(again.means, model.means)
    np.testing.assert_array_equal(again.variances, model.variances)
    assert read_background(path, source="abd") is None
    content = scipy.io.loadmat(path)
    assert content["bg_means"].shape == content["bg_vars"].shape == (1, 2)
    np.testing.assert_array_equal(content["bg_means"][0, 1][..., 0], model.means[1, :, :, 2])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"bg_means": 1}, "lacks the variable bg_vars"),
        ({"bg_means": cell(np.ones(3)), "bg_vars": cell(np.ones(3))}, "bg_means is no cell of pictures"),
        (
            {"bg_means": cell(picture(1, 1, 1), np.ones((2, 2, 3))), "bg_vars": cell(picture(1, 1, 1))},
            "bg_means is no cell of pictures",
        ),
        (
            {"bg_means": cell(picture(90, 90, 90)), "bg_vars": cell(picture(1, 1, 1))},
            "must be of images scaled to 0..1",
        ),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "b.mat"
    scipy.io.savemat(path, content)
    with pytest.raises(DataError) as fault:
        read_background(path)
    assert str(fault.value).startswith(str(path))
    assert message in str(fault.value)
