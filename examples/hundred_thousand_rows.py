"""
100,000 rows
============

An exact Gaussian process on 100,000 rows. The kernel matrix alone would take 80 GB, and is never stored.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1

from gbcd import GBCDRegressor

# %%
# Friedman's function of ten inputs, five of which matter, with noise of standard deviation 1.

n_rows = 100_000
X, y = make_friedman1(n_rows, noise=1.0, random_state=0)
X_new, truth = make_friedman1(1000, noise=0.0, random_state=1)

# %%
# The fit. ``checkpoint="fit.npz"`` would let it go on after a kill, ``verbose=True`` would show its course.

started = time.perf_counter()
model = GBCDRegressor(random_state=0).fit(X, y)
result, search = model.solve_result_, model.hyperparameters_
print(f"{n_rows:,} rows, {X.shape[1]} inputs; {model.kernel_!r}, noise {model.noise_:.3g}")
print(f"hyperparameters  {search.seconds:.1f} s, on {len(search.indices):,} rows")
print(f"whole fit        {time.perf_counter() - started:.1f} s")
print(f"solved by        {result.choice}")
print(f"kernel passes    {result.kernel_passes:.2f}, in {result.n_iter} iterations")
print(f"gradient         {result.gradient_norm:.1e} (infinity norm, checked in float64)")

# %%
# Means of new points, and their error against the function without noise. A single observation errs by 1.

mean = model.predict(X_new)
error = np.sqrt(np.mean((mean - truth) ** 2))
print(f"error            {error:.4f} (root mean square)")

figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
axes.plot(truth, mean, ".", markersize=3)
axes.axline((15, 15), slope=1, color="grey")
axes.set(xlabel="true value", ylabel="prediction")
plt.show()

# %%
# Exact standard deviations of new points, ``model.predict(X_new, return_std=True)``, take minutes for this many rows.
