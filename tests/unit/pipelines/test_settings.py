"""Settings: defaults, the files that are shipped, and how faults are told."""

from typing import get_args

import pytest
from places import REPOSITORY

from pipelines.errors import UsageError
from pipelines.settings import Config, DataConfig, load_config
from pose.humaneva.splits import SCHEMES

CONFIGS = REPOSITORY / "configs"


def write(tmp_path, text):
    path = tmp_path / "my.toml"
    path.write_text(text)
    return path


def test_without_a_file_the_papers_settings_hold():
    config = load_config()
    assert (config.descriptor.n_points, config.descriptor.n_words, config.descriptor.codebook_stride) == (400, 300, 15)
    assert (config.gp.subset, config.gp.tolerance, config.mpgp.n_regressors) == (2000, 1e-4, 2000)


def test_the_shipped_humaneva_file_lists_the_defaults():
    assert load_config(CONFIGS / "humaneva.toml") == Config()


def test_the_shipped_demo_file_differs_only_in_size():
    demo, default = load_config(CONFIGS / "demo.toml"), Config()
    assert demo.descriptor == default.descriptor
    assert demo.gp.model_copy(update={"subset": default.gp.subset}) == default.gp


def test_values_are_taken(tmp_path):
    config = load_config(write(tmp_path, '[data]\nstride = 3\ntarget_frame = "world"\n[gp]\nkernel = "ard"\n'))
    assert (config.data.stride, config.data.target_frame, config.gp.kernel) == (3, "world", "ard")


def test_the_schemes_are_those_of_the_reader():
    assert get_args(DataConfig.model_fields["scheme"].annotation) == SCHEMES


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[gp]\nkernal = 'ard'", "unknown key 'gp.kernal'; the nearest known one is 'gp.kernel'"),
        ("[gp]\nsolver = 'sgd'", "gp.solver: there are auto, gbcd, gbcd-paper"),
        ("foo = 1", "unknown key 'foo'; there are random_state, data, silhouette, descriptor, gp, mpgp"),
        ("[discriptor]\nn_words = 5", "unknown key 'discriptor'; the nearest known one is 'descriptor'"),
        ("[gp]\nkernel = 'matern'", "gp.kernel: Input should be 'isotropic' or 'ard'"),
        ("[data]\nstride = 0", "data.stride: Input should be greater than or equal to 1"),
        ("[data]\ncameras = ['C1', 'C1']", "each may be named once"),
        ("[data]\nscheme = 'random'", "data.scheme: Input should be 'official', 'tgp-half' or 'blocked-75-25'"),
        (
            "[data]\nscheme = 'tgp-half'\ntrain_partition = 'Validate'",
            "data: train_partition Validate: tgp-half has Train and Test",
        ),
        ("[data\n", "is not TOML"),
        ("data = 5", "data: Input should be"),
    ],
)
def test_faults_are_one_line_with_the_file(tmp_path, text, message):
    with pytest.raises(UsageError) as fault:
        load_config(write(tmp_path, text))
    assert message in str(fault.value)
    assert "my.toml: " in str(fault.value)
    assert "\n" not in str(fault.value).replace("is not TOML", "")


def test_all_faults_are_listed_at_once(tmp_path):
    with pytest.raises(UsageError) as fault:
        load_config(write(tmp_path, "[gp]\nkernal = 1\nsubset = 0\n"))
    assert "gp.kernal" in str(fault.value)
    assert "gp.subset" in str(fault.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"none\.toml: cannot be read \(No such file"):
        load_config(tmp_path / "none.toml")
