"""Exact Gaussian process regression far beyond memory, by greedy block coordinate descent."""

from gbcd.kernels import Kernel, SquaredExponential
from gbcd.likelihood import leave_group_out_score, log_marginal_likelihood
from gbcd.local_variance import LocalVariances
from gbcd.prediction import MeanPredictor
from gbcd.regressor import GBCDRegressor
from gbcd.sampling import posterior_deviations
from gbcd.search import HyperparameterFit, fit_hyperparameters
from gbcd.selection import (
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
from gbcd.solvers import SOLVERS, SolveResult, TraceEntry, solve
from gbcd.sparse import MatchingPursuitGP, SubsetOfData, SubsetOfRegressors
from gbcd.system import KernelSystem
from gbcd.variance import predictive_variance

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
    "LocalVariances",
    "MatchingPursuitGP",
    "MaximalViolatingPair",
    "MeanPredictor",
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
