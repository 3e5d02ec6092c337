"""Exact Gaussian process regression far beyond memory, by greedy block coordinate descent."""
