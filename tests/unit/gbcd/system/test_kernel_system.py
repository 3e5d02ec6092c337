import numpy as np
import pytest
import scipy.sparse
from sklearn.gaussian_process.kernels import RBF

from gbcd import KernelSystem, SquaredExponential, predictive_variance, solve
from gbcd.system.protocol import KnownColumns

N = 700
ALL = 1 << 30


@pytest.fixture
def data(problem, dense):
    X, _, kernel, noise = problem(N)
    return X, kernel, noise, dense(X, kernel, noise)


@pytest.mark.parametrize("budget", [0, ALL], ids=["tiles", "kept"])
@pytest.mark.parametrize(("precision", "accuracy"), [("mixed", 1e-4), ("float64", 1e-11)])
def test_the_products_are_those_of_the_dense_matrix(data, budget, precision, accuracy):
    X, kernel, noise, Kbar = data
    rng = np.random.default_rng(0)
    system = KernelSystem(X, kernel, noise, budget, precision)
    V, Y = rng.standard_normal((2, N, 3))
    np.testing.assert_allclose(system.diagonal(), np.diagonal(Kbar))
    np.testing.assert_allclose(system.matmul(V), Kbar @ V, atol=accuracy)
    np.testing.assert_allclose(system.residual(V, Y), Kbar @ V - Y, atol=1e-11)
    np.testing.assert_allclose(system.dense(), Kbar, atol=1e-13)
    B = rng.permutation(N)[:150]
    G = Y.copy()
    system.add_columns(B, V[B], G)
    np.testing.assert_allclose(G, Y + Kbar[:, B] @ V[B], atol=accuracy)
    rows, columns = rng.permutation(N)[:40], np.r_[B[:20], rng.permutation(N)[:20]]
    K = Kbar - noise * np.eye(N)
    np.testing.assert_allclose(system.block(rows, columns, exact=True), K[np.ix_(rows, columns)], atol=1e-13)
    np.testing.assert_allclose(system.block(rows, columns), K[np.ix_(rows, columns)], atol=accuracy)
    np.testing.assert_allclose(system.columns(columns), K[:, columns], atol=accuracy)
    np.testing.assert_allclose(system.rows(columns), K[columns], atol=accuracy)
    np.testing.assert_allclose(system.diagonal(noise=False), np.diagonal(K))


def test_known_columns_are_used_and_not_computed_again(data):
    X, kernel, noise, Kbar = data
    rng = np.random.default_rng(1)
    system = KernelSystem(X, kernel, noise, 0)
    B, rows = rng.permutation(N)[:50], rng.permutation(N)[:300]
    known = KnownColumns(rows, system.block(rows, B))
    assert system.kernel_evaluations == 300 * 50
    D, G = rng.standard_normal((50, 2)), np.zeros((N, 2))
    system.add_columns(B, D, G, known)
    assert system.kernel_evaluations == N * 50
    np.testing.assert_allclose(G, Kbar[:, B] @ D, atol=1e-4)


def test_every_value_is_counted_once(data):
    X, kernel, noise, _ = data
    system = KernelSystem(X, kernel, noise, 0)
    counts = [0]

    def counted():
        counts.append(system.kernel_evaluations)
        return counts[-1] - counts[-2]

    B, V, G = np.arange(30), np.ones((N, 1)), np.zeros((N, 1))
    system.block(B, B[:7], exact=True)
    assert counted() == 210
    system.block(B, B[:7])
    assert counted() == 210
    system.columns(B)
    assert counted() == 30 * N
    system.rows(B[:2])
    assert counted() == 2 * N
    system.cross(X[:3])
    assert counted() == 3 * N
    system.add_columns(B, V[B], G)
    assert counted() == 30 * N
    system.matmul(V)
    # Tiles above the diagonal once, those on it whole.
    assert N * (N + 1) // 2 <= counted() < N**2
    kept = KernelSystem(X, kernel, noise, ALL)
    assert kept.keep("whole")
    kept.matmul(V)
    filled = kept.kernel_evaluations
    kept.matmul(V)
    kept.add_columns(B, V[B], G)
    kept.block(B, B)
    kept.columns(B)
    kept.rows(B)
    assert kept.kernel_evaluations == filled < N**2


def test_the_budget_decides_whether_the_matrix_is_kept(data):
    X, kernel, noise, _ = data
    assert not KernelSystem(X, kernel, noise, N**2 * 4).keep("whole")
    assert KernelSystem(X, kernel, noise, 60_000_000).keep("whole")


def test_precision_is_raised_once(data):
    X, kernel, noise, Kbar = data
    system = KernelSystem(X, kernel, noise, 0)
    assert system.dtype == np.float32
    assert system.raise_precision()
    assert not system.raise_precision()
    V = np.ones((N, 1))
    np.testing.assert_allclose(system.matmul(V), Kbar @ V, atol=1e-11)


def test_squares_that_cancel_too_much_for_float32_start_in_float64():
    X, kernel = np.linspace(0, 150, 50)[:, None], SquaredExponential(1.0)
    assert KernelSystem(X, kernel, 0.1).dtype == np.float64
    assert KernelSystem(X / 3, kernel, 0.1).dtype == np.float32
    # Farther out nothing is left to cancel: differences are taken, in float64 whatever the tile.
    assert KernelSystem(1e3 * X, kernel, 0.1).dtype == np.float32


def test_a_matrix_that_is_kept_is_the_exact_one_rounded(data):
    X, kernel, noise, Kbar = data
    system = KernelSystem(X, kernel, noise, 10**9)
    assert system.keep("whole")
    assert system.dtype == np.float32
    values = system.columns(np.arange(N))
    np.testing.assert_allclose(values, Kbar - noise * np.eye(N), rtol=0, atol=6.1e-8)  # half a unit of float32 at 1


@pytest.mark.parametrize("budget", [1e8, np.float32(1e8), np.int64(10**8), 10, 0])
def test_a_budget_is_any_whole_number_of_bytes(data, budget):
    X, kernel, noise, Kbar = data
    system = KernelSystem(X, kernel, noise, budget)
    assert system.storage.budget == int(budget)
    assert system.keep("whole") == (budget > 10)
    y = np.sin(np.arange(float(N)))
    assert np.abs(Kbar @ solve(system, y, random_state=0).coef[:, 0] - y).max() <= 1.01e-4


def test_inputs_that_were_changed_are_noticed(data):
    X, kernel, noise, _ = data
    X = X.copy()
    system = KernelSystem(X, kernel, noise)
    solve(system, X[:, 0], random_state=0)
    X[5], X[6] = X[6].copy(), X[5].copy()
    for use in (lambda: solve(system, X[:, 0]), lambda: predictive_variance(system, X[:3])):
        with pytest.raises(ValueError, match="X has been changed since the KernelSystem was made: make another one"):
            use()
    X[5], X[6] = X[6].copy(), X[5].copy()
    assert solve(system, X[:, 0], random_state=0).converged
    # What had to be converted is a copy already.
    single = X.astype(np.float32)
    copied = KernelSystem(single, kernel, noise)
    single[:] = 0
    assert solve(copied, X[:, 0], random_state=0).converged


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noise": 0.0}, "noise must be a positive number, not 0.0"),
        ({"noise": np.nan}, "noise must be a positive number"),
        ({"noise": [0.1, 0.2]}, r"noise must be a positive number, not \[0.1, 0.2\]"),
        ({"noise": "a"}, "noise must be a positive number, not a"),
        ({"precision": "float16"}, "'mixed' or 'float64', not 'float16'"),
        ({"memory_budget": -1}, "number of bytes, not -1"),
        ({"memory_budget": True}, "number of bytes, not True"),
        ({"memory_budget": 0.5}, "number of bytes, not 0.5"),
        ({"memory_budget": np.inf}, "number of bytes, not inf"),
        ({"memory_budget": None}, "number of bytes, not None"),
        ({"memory_budget": "all"}, "number of bytes, not 'all'"),
        ({"kernel": "ard"}, "kernel must be a gbcd.Kernel, not 'ard'"),
        ({"kernel": RBF(2.0)}, r"RBF\(length_scale\) of scikit-learn is gbcd.SquaredExponential\(1 / \(2 \* length"),
        ({"X": np.ones((3, 2)) + 1j}, "Complex data not supported: give the real part of X"),
        ({"X": scipy.sparse.eye(3)}, r"X is sparse, and only dense arrays are taken: give X.toarray\(\)"),
        ({"X": [[10**400, 1]]}, "X holds an integer beyond 1.8e308"),
        ({"X": [[object(), 1]]}, "X must hold numbers"),
        ({"X": np.ones(3)}, "two dimensions"),
        ({"X": np.ones((0, 3))}, "X is empty"),
        ({"X": [[1.0, 2.0], [3.0, np.nan]]}, "X contains NaN at row 1, column 1"),
        ({"X": [[1.0, np.inf]]}, "X contains infinity at row 0, column 1"),
    ],
)
def test_impossible_systems_are_refused(change, message):
    arguments = {"X": np.ones((3, 2)), "kernel": SquaredExponential(1.0), "noise": 0.1, **change}
    with pytest.raises(ValueError, match=message):
        KernelSystem(**arguments)


@pytest.mark.parametrize("budget", [0, ALL], ids=["tiles", "kept"])
@pytest.mark.parametrize("apart", [0.0, 1e7, 1e155, 1e300])
def test_inputs_far_apart_on_the_kernels_scale_are_no_worse(problem, dense, budget, apart):
    X, _, kernel, noise = problem(300)
    near, far = X[:150], X[150:] + apart
    Kbar = dense(np.r_[near, X[150:]], kernel, noise)
    if apart:
        # The groups do not see each other; from 1e155 on the second one is a single point.
        Kbar[:150, 150:] = Kbar[150:, :150] = 0
        Kbar[150:, 150:] = dense(far, kernel, noise) if apart < 1e100 else 1 + noise * np.eye(150)
    system = KernelSystem(np.r_[near, far], kernel, noise, budget)
    np.testing.assert_array_equal(system.diagonal(), 1 + noise)
    np.testing.assert_allclose(system.dense(), Kbar, rtol=0, atol=1e-12)
    everything = np.arange(300)
    for values in (system.dense(), system.block(everything, everything, exact=True) + noise * np.eye(300)):
        np.testing.assert_array_equal(np.diagonal(values), 1 + noise)
    rng = np.random.default_rng(0)
    V, Y = rng.standard_normal((2, 300, 2))
    np.testing.assert_allclose(system.residual(V, Y), Kbar @ V - Y, rtol=0, atol=1e-11)
    np.testing.assert_allclose(system.matmul(V), Kbar @ V, rtol=0, atol=1e-4)
    for solver in ("gbcd", "cholesky", "pcg", "gbcd-paper", "smo"):
        result = solve(system, Y, solver, tol=1e-6, random_state=0)
        assert result.converged
        assert np.abs(Kbar @ result.coef - Y).max() <= 1.01e-6


@pytest.mark.parametrize("scale", [1e155, 1e308])
def test_rows_that_see_nobody_have_their_own_output(scale):
    X = scale * np.linspace(-1, 1, 2500)[:, None]
    y = np.sin(np.arange(2500.0))
    result = solve(KernelSystem(X, SquaredExponential(1.0), 0.25), y, random_state=0)
    np.testing.assert_allclose(result.coef[:, 0], y / 1.25, atol=1e-4)
