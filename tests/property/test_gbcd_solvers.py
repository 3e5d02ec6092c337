"""What holds for every system, whatever its size, noise, copies, outputs and memory."""

import warnings

import numpy as np
import pytest
import scipy.linalg
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from gbcd import KernelSystem, SquaredExponential, solve
from gbcd.solvers.column_factor import ColumnFactor
from gbcd.solvers.preconditioner import Preconditioner
from gbcd.system.products import symmetric_product

SYSTEMS = {
    "seed": st.integers(0, 2**32 - 1),
    "n": st.integers(1, 120),
    "d": st.integers(1, 5),
    "log_noise": st.floats(-14, 2),
    "log_gamma": st.floats(-8, 5),
    "copies": st.integers(1, 4),
    "budget": st.sampled_from([0, 10**4, 10**5, 10**6, 3 * 10**7]),
    "precision": st.sampled_from(["mixed", "float64"]),
}


def system_of(seed, n, d, log_noise, log_gamma, copies, budget, precision):
    X = np.random.default_rng(seed).standard_normal((n, d))[np.arange(n) // copies]
    return KernelSystem(X, SquaredExponential(np.exp(log_gamma)), float(np.exp(log_noise)), budget, precision)


@pytest.mark.parametrize("solver", ["gbcd", "pcg", "auto"])
@settings(max_examples=60)
@given(q=st.integers(1, 4), log_scale=st.floats(-20, 20), **SYSTEMS)
def test_a_solver_arrives_or_says_that_it_has_not(solver, q, log_scale, **system):
    made = system_of(**system)
    scale = float(np.exp(log_scale))
    Y = scale * np.random.default_rng(system["seed"] + 1).standard_normal((made.n, q))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = solve(made, Y, solver, tol=1e-4 * scale, random_state=0, max_passes=200)
    Kbar = made.dense()
    residual = Kbar @ result.coef - Y
    # The norm is the exact one, to the rounding of products whose terms are as large as coef.
    rounding = 1e-13 * made.n * np.abs(result.coef).max()
    assert np.isfinite(result.coef).all()
    assert result.gradient_norm == pytest.approx(np.abs(residual).max(), rel=1e-6, abs=rounding)
    assert result.objective <= 1e-6 * abs(result.objective)
    assert bool(result.choice) == (solver != "pcg")
    assert result.converged == (result.gradient_norm <= 1e-4 * scale)
    assert [warning.category for warning in caught] == [ConvergenceWarning] * (not result.converged)
    if made.noise >= 1e-3 and solver != "pcg":
        assert result.converged
    if result.converged:
        direct = scipy.linalg.solve(Kbar, Y, assume_a="pos")
        # |Kbar^-1| <= 1 / noise.
        bound = (np.linalg.norm(residual) + 1e-12 * np.linalg.norm(Y) * made.n / made.noise) / made.noise
        assert np.linalg.norm(result.coef - direct) <= 1.01 * bound


@settings(max_examples=80)
@given(draws=st.integers(1, 64), rank=st.integers(0, 120), **SYSTEMS)
@example(
    # A line of points: what is left of most rows is the rounding of their kernel values.
    draws=46,
    rank=10,
    seed=131440912,
    n=57,
    d=1,
    log_noise=-7.0,
    log_gamma=0.0,
    copies=1,
    budget=0,
    precision="mixed",
)
def test_a_factor_never_exceeds_the_matrix(draws, rank, **system):
    made = system_of(**system)
    n, noise = made.n, made.noise
    factor = ColumnFactor(made, np.random.default_rng(0))
    traces = [factor.trace]
    while factor.rank < rank and factor.grow(min(draws, n)):
        traces.append(factor.trace)
    K = made.dense() - noise * np.eye(n)
    L = np.concatenate([np.zeros((n, 0))] + factor.rows(np.arange(n)), axis=1, dtype=np.float64)
    # Errors of values near 1 are those of |z|^2, which cancels; those of columns stay below the noise.
    lost = 3 * np.finfo(made.dtype).eps * made.kernel.magnitude(made.X, made.origin)
    assert np.linalg.eigvalsh(K - L @ L.T)[0] >= -(4e-6 + lost) * n - 0.5 * noise
    assert (factor.schur >= 0).all()
    assert (factor.schur <= 1 + 1e-14).all()
    assert (np.diff(traces) <= 0).all()
    assert factor.rank <= n
    G = np.random.default_rng(1).standard_normal((n, 2))
    Z = Preconditioner(factor, noise).solve(G)
    assert np.isfinite(Z).all()
    if noise >= 1e-2:
        # P >= noise I: a descent direction, and no longer than the noise allows.
        assert (np.einsum("ij,ij->j", G, Z) > 0).all()
        assert np.linalg.norm(Z) <= 1.05 * np.linalg.norm(G) / noise


@settings(max_examples=80)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 600),
    q=st.integers(1, 20),
    dtype=st.sampled_from([np.float32, np.float64]),
    log_scale=st.floats(-200, 200),
)
def test_products_are_linear_and_symmetric(seed, n, q, dtype, log_scale):
    rng = np.random.default_rng(seed)
    x, V, W = rng.standard_normal(n), rng.standard_normal((n, q)), rng.standard_normal((n, q))
    K = np.exp(-((x[:, None] - x) ** 2))
    eps = float(np.finfo(dtype).eps)

    def product(right):
        def fill(pair, values):
            values[...] = K[pair]

        return symmetric_product(right, np.dtype(dtype), fill)[0]

    accuracy = 4 * eps * n * max(np.abs(V).max(), np.abs(W).max())
    np.testing.assert_allclose(product(V), K @ V, rtol=0, atol=accuracy)
    np.testing.assert_allclose(product(V + W), product(V) + product(W), rtol=0, atol=4 * accuracy)
    np.testing.assert_allclose(W.T @ product(V), product(W).T @ V, rtol=0, atol=4 * n * accuracy)
    scale = float(np.exp(log_scale))
    np.testing.assert_allclose(product(scale * V), scale * product(V), rtol=0, atol=2 * scale * accuracy)
    # A power of two changes no digit.
    np.testing.assert_array_equal(product(2.0**40 * V), 2.0**40 * product(V))
