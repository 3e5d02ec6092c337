"""The same Gaussian process from scikit-learn and from gbcd: seconds and the largest differences."""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from gbcd import GBCDRegressor

NEW_POINTS = 200


def main() -> None:
    """Fit both on the same data with the same kernel and noise, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--size", type=int, default=3000, help="training points: scikit-learn needs 24 n^2 bytes and more"
    )
    arguments = parser.parse_args()

    X, y = make_friedman1(arguments.size, noise=1.0, random_state=0)
    X_new, _ = make_friedman1(NEW_POINTS, noise=0.0, random_state=1)
    # Kernel and noise once, from a subset; neither fit below counts it.
    found = GBCDRegressor(random_state=0).fit(X[:1000], y[:1000])

    started = time.perf_counter()
    ours = GBCDRegressor(kernel=found.kernel_, noise=found.noise_, random_state=0).fit(X, y)
    mean, deviation = ours.predict(X_new, return_std=True)
    seconds = time.perf_counter() - started

    # gamma of exp(-gamma r^2) is 1 / (2 length_scale^2); inputs as our kernel sees them.
    started = time.perf_counter()
    rbf = RBF(1 / np.sqrt(2 * ours.kernel_.gamma), length_scale_bounds="fixed")
    theirs = GaussianProcessRegressor(rbf, alpha=ours.noise_, optimizer=None, normalize_y=True)
    theirs.fit(ours.scale_inputs(X), y)
    their_mean, their_deviation = theirs.predict(ours.scale_inputs(X_new), return_std=True)
    their_seconds = time.perf_counter() - started

    print(
        f"{arguments.size:,} points, {NEW_POINTS} predictions with standard deviations; outputs vary by {y.std():.2f}"
    )
    print(f"GBCDRegressor             {seconds:8.2f} s")
    print(f"GaussianProcessRegressor  {their_seconds:8.2f} s")
    print(f"largest difference of the means       {np.abs(mean - their_mean).max():.1e}")
    print(f"largest difference of the deviations  {np.abs(deviation - their_deviation).max():.1e}")


if __name__ == "__main__":
    main()
