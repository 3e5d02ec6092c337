"""`column_factor` and `preconditioner`: the coarse block, and P made of it."""

import numpy as np
import pytest
import scipy.linalg

from gbcd import KernelSystem, SquaredExponential
from gbcd.solvers.column_factor import ColumnFactor
from gbcd.solvers.preconditioner import Preconditioner
from gbcd.threads import worker_limit

ROOM = 1 << 28


def system_of(X, gamma=0.2, noise=1e-2, precision="mixed"):
    return KernelSystem(X, SquaredExponential(gamma), noise, ROOM, precision)


def grown(system, rank, draws=64, seed=0):
    factor = ColumnFactor(system, np.random.default_rng(seed))
    for _ in range(1000):
        if factor.rank >= rank or not factor.grow(draws):
            return factor
    raise AssertionError("growth does not end")


def dense(system):
    K = system.dense()
    K.flat[:: system.n + 1] -= system.noise
    return K


def columns(factor, n):
    return np.concatenate([np.zeros((n, 0))] + factor.rows(np.arange(n)), axis=1, dtype=np.float64)


def inputs():
    X = np.random.default_rng(0).standard_normal((600, 3))
    return {
        "smooth": (X, 1e-3),
        "middling": (X, 0.2),
        "rough": (X, 20.0),
        "no row near another": (X, 1e4),
        "more than a piece of rows": (np.random.default_rng(1).standard_normal((1030, 2)), 0.5),
        "every row twice": (np.r_[X[:300], X[:300]], 1.0),
        "all rows the same": (np.ones((300, 2)), 1.0),
        "two points": (np.repeat(np.eye(2), 100, axis=0), 1e4),
        "a constant feature": (np.c_[X, np.full(600, 7.0)], 0.2),
        "one row": (X[:1], 1.0),
        "two rows": (X[:2], 1.0),
    }


@pytest.mark.parametrize("case", inputs())
@pytest.mark.parametrize("noise", [1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("precision", ["mixed", "float64"])
def test_the_columns_stay_below_the_matrix(case, noise, precision):
    X, gamma = inputs()[case]
    system = system_of(X, gamma, noise, precision)
    K = dense(system)
    factor = grown(system, min(200, system.n))
    L = columns(factor, system.n)
    left = K - L @ L.T
    assert 0 < factor.rank == L.shape[1] <= system.n
    # L is in tile precision, and so are K's columns.
    assert np.linalg.eigvalsh(left)[0] >= -2e-6 * system.n
    # Distances lose the digits of |z|^2 to cancellation: all of the error of a value near 1.
    lost = 3 * np.finfo(system.dtype).eps * system.kernel.magnitude(system.X, system.origin)
    np.testing.assert_allclose(factor.schur, np.diagonal(left), rtol=0, atol=2e-6 + lost)
    assert (factor.schur >= 0).all()
    assert factor.trace == pytest.approx(factor.schur.mean())
    assert factor.bytes == system.dtype.itemsize * system.n * factor.rank


@pytest.mark.parametrize(
    "case", ["all rows the same", "two points", "every row twice", "smooth", "one row", "two rows"]
)
@pytest.mark.parametrize("noise", [1e-1, 1e-6])
def test_growth_ends_where_nothing_is_left(case, noise):
    X, gamma = inputs()[case]
    system = system_of(X, gamma, noise)
    factor = grown(system, 10**9)
    before = factor.rank
    assert not factor.grow(64)
    # Copies are not taken, but for those that rounding sets apart.
    assert factor.rank == before <= 1.2 * len(np.unique(X, axis=0))
    assert np.isfinite(factor.schur).all()
    # What is left is beneath the noise, or the rounding of L.
    assert factor.trace <= max(1e-2 * noise, 5e-5)
    z = Preconditioner(factor, noise).solve(np.ones((system.n, 1)))
    assert np.isfinite(z).all()


def test_each_distinct_row_is_enough():
    factor = grown(system_of(np.repeat(np.eye(2), 100, axis=0), 1e4), 10**9)
    assert factor.rank == 2
    assert factor.schur.max() < 1e-6


def test_pivots_are_drawn_where_something_is_left():
    # 5 rows by themselves among 500 that are one: the first draw takes the cluster, the others the five.
    X = np.r_[np.zeros((500, 1)), 100.0 * np.arange(1, 6)[:, None]]
    factor = grown(system_of(X, 1.0), 10**9)
    assert factor.rank == 6
    assert factor.schur.max() == pytest.approx(0, abs=1e-6)


def test_a_seed_gives_the_same_columns_whatever_the_workers():
    X = np.random.default_rng(0).standard_normal((2500, 3))
    G = np.random.default_rng(1).standard_normal((2500, 3))
    found = []
    for workers in (1, 2):
        with worker_limit(workers):
            system = system_of(X)
            factor = grown(system, 150)
            solved = [Preconditioner(factor, system.noise).solve(G[:, :q]) for q in (1, 3)]
            found.append([factor.schur, *solved])
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)
    other = grown(system_of(X), 150, seed=1)
    assert not np.array_equal(other.schur, found[0][0])


def test_evaluations_are_those_of_the_columns_and_the_corners():
    system = system_of(np.random.default_rng(0).standard_normal((700, 3)), 2.0)
    factor = ColumnFactor(system, np.random.default_rng(0))
    assert factor.grow(64)
    assert system.kernel_evaluations <= 700 * factor.rank + 64**2
    assert system.kernel_evaluations > 700 * factor.rank


@pytest.mark.parametrize("q", [1, 3, 45])
@pytest.mark.parametrize("coded", [False, True])
def test_the_products_are_those_of_the_columns(q, coded):
    system = system_of(np.random.default_rng(0).standard_normal((2100, 3)))
    factor = grown(system, 200)
    if coded:
        factor.compress()
    n, L = system.n, columns(factor, system.n)
    assert factor.bytes == 4 * L.size if not coded else factor.bytes < 2.5 * L.size
    rng = np.random.default_rng(1)
    V, W = rng.standard_normal((n, q)), rng.standard_normal((factor.rank, q))
    np.testing.assert_allclose(factor.products(V), L.T @ V, rtol=0, atol=3e-4)
    np.testing.assert_allclose(factor.subtract(W.astype(np.float32), V), V - L @ W, rtol=0, atol=3e-5)
    np.testing.assert_allclose(np.tril(factor.gram()), np.tril(L.T @ L), rtol=0, atol=1e-3)
    index = np.array([2099, 0, 1024, 1023])
    np.testing.assert_array_equal(np.concatenate(factor.rows(index), axis=1), L[index].astype(np.float32))


@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize(("noise", "accuracy"), [(1.0, 1e-4), (1e-1, 3e-3), (1e-2, 2e-2)])
@pytest.mark.parametrize("rank", [1, 150])
def test_the_inverse_is_that_of_the_dense_matrix(rank, noise, accuracy, q):
    system = system_of(np.random.default_rng(0).standard_normal((600, 3)), 0.5, noise)
    factor = grown(system, rank)
    L = columns(factor, 600)
    P = L @ L.T + noise * np.eye(600)
    G = np.random.default_rng(1).standard_normal((600, q))
    preconditioner = Preconditioner(factor, noise)
    Z = preconditioner.solve(G)
    exact = np.linalg.solve(P, G)
    # In the norm of P, in which conjugate gradients see it.
    assert np.vdot(Z - exact, P @ (Z - exact)) <= accuracy**2 * np.vdot(exact, P @ exact)
    assert (np.einsum("ij,ij->j", G, Z) > 0).all()
    assert preconditioner.bytes == factor.bytes + 4 * factor.rank**2


def test_no_columns_are_the_noise_alone():
    system = system_of(np.eye(7), noise=0.5)
    factor = ColumnFactor(system, np.random.default_rng(0))
    G = np.random.default_rng(1).standard_normal((7, 2))
    np.testing.assert_array_equal(Preconditioner(factor, 0.5).solve(G), 2 * G)
    assert factor.trace == pytest.approx(1)
    assert factor.bytes == 0


@pytest.mark.parametrize(("noise", "coded"), [(0.1, True), (1e-2, True), (1e-6, False)])
def test_codes_are_taken_where_the_noise_outweighs_them(noise, coded):
    system = system_of(np.random.default_rng(0).standard_normal((600, 3)), 0.5, noise)
    factor = grown(system, 150)
    L, size = columns(factor, 600), factor.bytes
    factor.compress()
    compressed = columns(factor, 600)
    assert (factor.bytes < size) == coded
    np.testing.assert_allclose(compressed, L, rtol=0, atol=1.6e-5)
    changed = np.linalg.norm(compressed @ compressed.T - L @ L.T, 2)
    # P changes by a part of the noise: its inverse by the same part.
    assert changed <= 0.2 * noise
    again = factor.bytes
    factor.compress()
    assert factor.bytes == again
    # It goes on growing, codes and floats side by side.
    assert factor.grow(64) or not coded
    assert np.isfinite(columns(factor, 600)).all()


def test_the_eigenvalues_are_between_one_and_the_bound():
    noise = 1e-2
    system = system_of(np.random.default_rng(0).standard_normal((600, 3)), 2.0, noise)
    K = dense(system)
    factor = grown(system, 200)
    L = columns(factor, 600)
    inverse = Preconditioner(factor, noise).solve(np.eye(600))
    values = np.linalg.eigvals(inverse @ (K + noise * np.eye(600))).real
    bound = 1 + np.linalg.norm(K - L @ L.T, 2) / noise
    assert values.min() >= 0.98
    assert values.max() <= 1.02 * bound
    assert bound < 0.2 * np.linalg.cond(K + noise * np.eye(600))


@pytest.mark.parametrize("noise", [1e-6, 1e-8])
def test_a_tiny_noise_takes_float64_tiles_and_with_them_a_factor_that_still_inverts(noise):
    system = system_of(np.random.default_rng(0).standard_normal((300, 2)), 0.5, noise)
    factor = grown(system, 10**9)
    assert factor.dtype == np.float64
    L = columns(factor, 300)
    exact = np.linalg.solve(L @ L.T + noise * np.eye(300), np.ones((300, 1)))
    found = Preconditioner(factor, noise).solve(np.ones((300, 1)))
    np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-6 * np.abs(exact).max())


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_column_that_is_rounding_lifts_p_above_kbar(problem, dense, seed):
    # Variances are bounded by it. With columns of which 0.3 is rounding the eigenvalues began at 0.28 to 0.76.
    X, _, _, _ = problem(1000, seed=seed)
    kernel, noise = SquaredExponential(0.1 * np.array([0.13, 0.15, 0.067, 0.017, 0.0075] + 5 * [1e-6])), 1e-3
    factor = ColumnFactor(KernelSystem(X, kernel, noise), np.random.default_rng(seed))
    while factor.grow(256):
        pass
    L = np.concatenate(factor.rows(np.arange(1000)), axis=1).astype(np.float64)
    P = L @ L.T + noise * np.eye(1000)
    assert scipy.linalg.eigvalsh(dense(X, kernel, noise), P)[0] >= 0.95
