"""
From training to a video
========================

The whole job by the command line: a data set, a model, poses of a film, the skeleton drawn into it.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import av
import matplotlib.pyplot as plt

from pose.export import read_series

# %%
# A small synthetic data set stands for your own recordings. In a terminal: ``pose synth data --frames 240 ...``

n_frames = 240
folder = Path(tempfile.mkdtemp())


def pose(*arguments: object) -> None:
    command = [sys.executable, "-m", "pipelines.cli", *map(str, arguments)]
    subprocess.run(command, cwd=folder, check=True)


pose("synth", "data", "--frames", n_frames, "--actions", "Walking")

# %%
# Training. Settings are TOML; these make it quick.
(folder / "small.toml").write_text("descriptor = {n_words = 60, codebook_stride = 4}\nmpgp = {n_regressors = 50}")
pose("train", "data", "--config", "small.toml", "--model", "my.h5")

# %%
# Prediction of a film, with a recording of the empty scene, and an overlay.
film, empty = "data/S1/Image_Data/Walking_1_(C1).avi", "data/Background/Background_1_(C1).avi"
pose("predict", film, "-m", "my.h5", "-b", empty, "--overlay", "-o", "results")

# %%
# The overlay: the contour and the skeleton in the picture, and the pose from two sides.
with av.open(str(folder / "results/Walking_1_(C1)_overlay.mp4")) as container:
    pictures = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
plt.figure(figsize=(10, 4), layout="constrained")
plt.imshow(pictures[len(pictures) // 2])

# %%
# The numbers: the left ankle's height over time, with its error bars. The axes are the camera's, y points down.
series = read_series(folder / "results/Walking_1_(C1).h5")
ankle = series.skeleton.names.index("left_ankle")
height, std = -series.joints[:, ankle, 1], series.std[:, ankle, 1]
print(f"a person in {series.found.sum()} of {len(series.frame)} frames")
plt.figure(figsize=(8, 3))
plt.fill_between(series.time, height - 2 * std, height + 2 * std, alpha=0.3)
plt.plot(series.time, height)
plt.title("left ankle above the pelvis, mm, over seconds")
plt.show()
