"""
Fit, and error bars
===================

A Gaussian process gives more than a curve. It says how sure it is, and where it has seen nothing.
"""

import matplotlib.pyplot as plt
import numpy as np

from gbcd import GBCDRegressor

# %%
# Noisy samples of a curve. None of them lies between 5 and 7.

n_rows = 400
rng = np.random.default_rng(0)
x = np.sort(np.concatenate([rng.uniform(0, 5, n_rows // 2), rng.uniform(7, 12, n_rows // 2)]))
y = np.sin(x) + 0.3 * np.cos(4 * x) + rng.normal(0, 0.2, len(x))

# %%
# ``fit`` finds the width of the kernel, the noise and the amplitude, then solves for the coefficients. Inputs have the
# shape (n, d), here (n, 1).

model = GBCDRegressor(random_state=0).fit(x[:, None], y)
noise = np.sqrt(model.noise_ * model.amplitude_[0]) * model.y_scale_[0]
print(model.kernel_)
print(f"standard deviation of the noise: {noise:.2f}, true: 0.20")
print(f"solved by: {model.solve_result_.choice}")

# %%
# Two kinds of error bars. ``std`` is of the curve without noise. ``std_observed`` is of a new observation.

new = np.linspace(0, 12, 300)
mean, std = model.predict(new[:, None], return_std=True)
_, std_observed = model.predict(new[:, None], return_std=True, include_noise=True)

# %%
# The bars grow where there is no data. About 95 % of the observations lie within two deviations.

_, at_rows = model.predict(x[:, None], return_std=True, include_noise=True)
within = np.mean(np.abs(model.predict(x[:, None]) - y) < 2 * at_rows)
print(f"observations within two deviations: {within:.0%}")

figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
axes.fill_between(new, mean - 2 * std_observed, mean + 2 * std_observed, alpha=0.2, label="of a new observation")
axes.fill_between(new, mean - 2 * std, mean + 2 * std, alpha=0.5, label="of the curve")
axes.plot(x, y, "k.", markersize=2, label="observations")
axes.plot(new, mean, label="mean")
axes.legend()
plt.show()
