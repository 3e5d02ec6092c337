"""Exact Gaussian process regression far beyond memory: a coarse block of columns, then conjugate full-vector steps.

The method belongs to the family of greedy block coordinate descent (Bo & Sminchisescu, UAI 2008): see `gbcd.solve`.
"""

from gbcd.hyperparameters.objectives import leave_group_out_score, log_marginal_likelihood
from gbcd.hyperparameters.search import HyperparameterFit, fit_hyperparameters
from gbcd.kernels.base import Kernel
from gbcd.kernels.squared_exponential import SquaredExponential
from gbcd.paper import (
    ActiveSet,
    Cyclic,
    Exhaustive,
    Gradient,
    GreedyPool,
    MaximalViolatingPair,
    Prefit,
    RandomSubset,
    Selection,
)
from gbcd.posterior.draws import posterior_deviations
from gbcd.posterior.mean_predictor import MeanPredictor
from gbcd.posterior.nearest_neighbours import LocalVariances
from gbcd.posterior.posterior import Posterior
from gbcd.posterior.variance import predictive_variance
from gbcd.regressor import GBCDRegressor
from gbcd.solvers import SOLVERS, SolveResult, TraceEntry, solve
from gbcd.sparse import MatchingPursuitGP, SubsetOfData, SubsetOfRegressors
from gbcd.system.kernel_system import KernelSystem
from gbcd.system.protocol import LinearSystem

__all__ = [
    "SOLVERS",
    "ActiveSet",
    "Cyclic",
    "Exhaustive",
    "GBCDRegressor",
    "Gradient",
    "GreedyPool",
    "HyperparameterFit",
    "Kernel",
    "KernelSystem",
    "LinearSystem",
    "LocalVariances",
    "MatchingPursuitGP",
    "MaximalViolatingPair",
    "MeanPredictor",
    "Posterior",
    "Prefit",
    "RandomSubset",
    "Selection",
    "SolveResult",
    "SquaredExponential",
    "SubsetOfData",
    "SubsetOfRegressors",
    "TraceEntry",
    "fit_hyperparameters",
    "leave_group_out_score",
    "log_marginal_likelihood",
    "posterior_deviations",
    "predictive_variance",
    "solve",
]
