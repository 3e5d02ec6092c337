import numpy as np
import pytest

from gbcd import KernelSystem, SquaredExponential, predictive_variance


@pytest.mark.parametrize(
    ("solver", "budget", "accuracy"),
    [("auto", 1 << 30, 1e-10), ("cholesky", 0, 1e-10), ("auto", 0, 1e-5), ("gbcd-paper", 0, 1e-5)],
)
def test_it_is_eq_2(problem, dense, solver, budget, accuracy):
    X, _, kernel, noise = problem(700)
    train, test = X[:400], X[400:]
    both = dense(X, kernel, 0.0)
    K_star = both[:400, 400:]
    exact = 1 - np.einsum("ij,ij->j", K_star, np.linalg.solve(dense(train, kernel, noise), K_star))
    system = KernelSystem(train, kernel, noise, budget)
    latent = predictive_variance(system, test, solver=solver, random_state=0, block_size=100)
    np.testing.assert_allclose(latent, exact, atol=accuracy)
    assert latent.shape == (300,)
    noisy = predictive_variance(system, test[:3], include_noise=True, solver="cholesky")
    np.testing.assert_allclose(noisy, exact[:3] + noise, atol=1e-9)


def test_other_columns_are_refused(problem):
    X, _, _, _ = problem(20)
    with pytest.raises(ValueError, match="X_new has 3 columns, the training inputs 10"):
        predictive_variance(KernelSystem(X, SquaredExponential(1.0), 0.1), X[:, :3])


def test_it_is_never_negative(problem):
    X, _, kernel, _ = problem(200)
    assert (predictive_variance(KernelSystem(X, kernel, 1e-10), X) >= 0).all()
