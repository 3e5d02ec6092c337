"""
A kernel of one's own
=====================

Any class with the methods of ``gbcd.Kernel`` is a kernel. Here: a periodic one, for what repeats each day.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import xlogy

from gbcd import GBCDRegressor, fit_hyperparameters

# %%
# k(x, x') = exp(w (cos(2 pi (x - x') / period) - 1)). The cosine of a difference is a product of (cos, sin) of both
# inputs. So sqrt(w) (cos, sin) are the features, and a tile is one matrix product and one exponential.


class Periodic:
    n_features = 1

    def __init__(self, period, w=1.0):
        self.period, self.w, self.log_parameters = period, w, np.log([w])

    def row_features(self, X, origin, dtype):
        turn = 2 * np.pi * (X - origin) / self.period
        return (np.sqrt(self.w) * np.hstack([np.cos(turn), np.sin(turn)])).astype(dtype)

    column_features = row_features

    def tile(self, rows, columns, out=None):
        values = np.matmul(rows, columns.T, out=out)
        return np.exp(np.minimum(values - self.w, 0), out=values)

    def diagonal(self, X):
        return np.ones(len(X))

    def magnitude(self, X, origin):
        return self.w  # a product is w at most, and w is subtracted from it

    def for_inputs(self, X, origin):
        return self

    def with_log_parameters(self, theta):
        return Periodic(self.period, float(np.exp(theta[0])))

    def parameter_gradient(self, X, K, dK):
        return np.array([np.vdot(dK, xlogy(K, K))])  # the derivative of k by log w is k log k


# %%
# Noisy data of twenty days, in hours. The search finds w and the noise, the fit uses them.
n_rows = 600
X = np.random.default_rng(0).uniform(0, 480, (n_rows, 1))
y = np.sin(2 * np.pi * X[:, 0] / 24) ** 3 + np.random.default_rng(1).normal(0, 0.3, n_rows)
found = fit_hyperparameters(X, y, kernel=Periodic(24), random_state=0)
model = GBCDRegressor(kernel=found.kernel, noise=found.noise, input_scaling=None).fit(X, y)
print(f"w {found.kernel.w:.2f}, noise {found.noise:.3f}; at 6 o'clock {model.predict([[6.0]])[0]:.2f}, true 1.00")
plt.plot(X[:, 0] % 24, y, "k.", np.arange(24), model.predict(np.arange(24)[:, None]))
