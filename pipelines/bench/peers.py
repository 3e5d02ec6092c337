"""Other libraries solving the same system, each called as its users would call it.

All functions take X (n, d), Y (n, q), gamma (d,), the noise and the tolerance, and return alpha (n, q). Each imports
its library when called, since the library may not be installed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from pose.types import FloatArray

Peer = Callable[[FloatArray, FloatArray, FloatArray, float, float], FloatArray]


def scipy_cholesky(X: FloatArray, Y: FloatArray, gamma: FloatArray, noise: float, tol: float) -> FloatArray:
    """Factor the stored float64 K in place."""
    del tol
    import scipy.linalg
    from scipy.spatial.distance import cdist
    from threadpoolctl import threadpool_limits

    Z = X * np.sqrt(gamma)
    K = cdist(Z, Z, "sqeuclidean")
    np.negative(K, out=K)
    np.exp(K, out=K)
    K.flat[:: len(K) + 1] += noise
    # With two threads, OpenBLAS's float64 potrf crashes near 2^31 bytes, a matrix of 16,384 rows.
    with threadpool_limits(1, user_api="blas"):
        # The transpose of a C-ordered array is Fortran-ordered, so LAPACK needs no copy.
        factor = scipy.linalg.cho_factor(K.T, lower=True, overwrite_a=True, check_finite=False)
        alpha: FloatArray = scipy.linalg.cho_solve(factor, Y, check_finite=False)
    return alpha


def sklearn_gaussian_process(X: FloatArray, Y: FloatArray, gamma: FloatArray, noise: float, tol: float) -> FloatArray:
    """`GaussianProcessRegressor` with fixed kernel parameters."""
    del tol
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    kernel = RBF(length_scale=np.sqrt(0.5 / gamma))
    model = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None, copy_X_train=False).fit(X, Y)
    return np.asarray(model.alpha_, dtype=np.float64).reshape(Y.shape)


def sklearn_kernel_ridge(X: FloatArray, Y: FloatArray, gamma: FloatArray, noise: float, tol: float) -> FloatArray:
    """`KernelRidge` on inputs scaled by the square root of gamma."""
    del tol
    from sklearn.kernel_ridge import KernelRidge

    model = KernelRidge(alpha=noise, kernel="rbf", gamma=1.0).fit(X * np.sqrt(gamma), Y)
    return np.asarray(model.dual_coef_, dtype=np.float64).reshape(Y.shape)


def gpytorch_cg(X: FloatArray, Y: FloatArray, gamma: FloatArray, noise: float, tol: float) -> FloatArray:
    """Conjugate gradients on the stored float64 K, with a pivoted Cholesky preconditioner of rank 100."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of GPyTorch's dependencies
        import gpytorch
        import torch
    from linear_operator.utils.warnings import NumericalWarning

    kernel = gpytorch.kernels.RBFKernel(ard_num_dims=X.shape[1]).double()
    kernel.lengthscale = torch.from_numpy(np.sqrt(0.5 / gamma))
    inputs, outputs = torch.from_numpy(X), torch.from_numpy(Y)
    settings = gpytorch.settings
    with (
        warnings.catch_warnings(),
        torch.no_grad(),
        settings.max_cholesky_size(0),
        settings.min_preconditioning_size(0),
        settings.max_preconditioner_size(100),
        settings.max_cg_iterations(10 * len(X)),
        # GPyTorch stops by the root mean square of the residuals; the largest of many is a few times as large.
        settings.cg_tolerance(tol / 4),
    ):
        warnings.simplefilter("ignore", NumericalWarning)  # the task checks the residual
        Kbar = kernel(inputs).evaluate_kernel().add_diagonal(torch.tensor(noise, dtype=torch.float64))
        return np.asarray(Kbar.solve(outputs).numpy(), dtype=np.float64)


PEERS: dict[str, Peer] = {
    "scipy": scipy_cholesky,
    "sklearn GPR": sklearn_gaussian_process,
    "sklearn KernelRidge": sklearn_kernel_ridge,
    "GPyTorch": gpytorch_cg,
}
