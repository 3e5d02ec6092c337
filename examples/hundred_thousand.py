"""An exact Gaussian process on 100,000 points of Friedman's function, with its deviations, on one computer."""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.datasets import make_friedman1

from gbcd import GBCDRegressor

NEW_POINTS = 1000
DEVIATIONS = 5


def main() -> None:
    """Fit, predict and print what it cost and how good it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000, help="training points")
    parser.add_argument("--checkpoint", help="an .npz file to resume from if the fit is interrupted")
    parser.add_argument("--verbose", action="store_true", help="print the course of the fit")
    arguments = parser.parse_args()

    X, y = make_friedman1(arguments.size, noise=1.0, random_state=0)
    X_new, truth = make_friedman1(NEW_POINTS, noise=0.0, random_state=1)

    started = time.perf_counter()
    model = GBCDRegressor(random_state=0, checkpoint=arguments.checkpoint, verbose=arguments.verbose).fit(X, y)
    fitted = time.perf_counter()
    mean = model.predict(X_new)
    predicted = time.perf_counter()
    some, deviations = model.predict(X_new[:DEVIATIONS], return_std=True)

    result, search = model.solve_result_, model.hyperparameters_
    error = np.sqrt(np.mean((mean - truth) ** 2))
    print(f"{arguments.size:,} points, {X.shape[1]} inputs; {model.kernel_!r}, noise {model.noise_:.3g}")
    print(f"kernel, noise  {search.seconds:.1f} s on {len(search.indices)} points")
    print(f"whole fit      {fitted - started:.1f} s")
    print(f"solve          {result.kernel_passes:.2f} passes over the kernel matrix in {result.n_iter} iterations")
    print(f"gradient       {result.gradient_norm:.1e} (infinity norm)")
    print(f"predictions    {predicted - fitted:.2f} s for {NEW_POINTS}")
    print(f"deviations     {time.perf_counter() - predicted:.1f} s for {DEVIATIONS}")
    print(f"error          {error:.4f} (root mean square, against the function without noise; the noise has 1)")
    for value, deviation, true in zip(some, deviations, truth, strict=False):
        print(f"               {value:8.3f} +- {deviation:.3f}, truth {true:8.3f}")


if __name__ == "__main__":
    main()
