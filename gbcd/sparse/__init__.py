"""Sparse rivals of the exact GP: on a subset of the data, on random regressors, on regressors chosen by pursuit."""

from gbcd.sparse.estimators import MatchingPursuitGP, SubsetOfData, SubsetOfRegressors

__all__ = ["MatchingPursuitGP", "SubsetOfData", "SubsetOfRegressors"]
