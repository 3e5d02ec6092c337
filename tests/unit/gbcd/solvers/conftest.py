from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.linalg

from gbcd import SolveResult


@pytest.fixture
def agrees() -> Callable[[SolveResult, np.ndarray, float, np.ndarray], bool]:
    """Whether a result is the direct solution, as far as its residual allows, and its norm is this residual's."""

    def check(result: SolveResult, Kbar: np.ndarray, noise: float, Y: np.ndarray) -> bool:
        residual = Kbar @ result.coef - Y
        assert result.gradient_norm == pytest.approx(np.abs(residual).max(), rel=1e-5, abs=1e-8)
        direct = scipy.linalg.cho_solve(scipy.linalg.cho_factor(Kbar), Y)
        apart = np.linalg.norm((Kbar - noise * np.eye(len(Kbar))) @ (result.coef - direct))
        # |K Kbar^-1| <= 1, so the fits differ by the residual at most.
        return bool(apart <= 1.01 * np.linalg.norm(residual) + 1e-8)

    return check
