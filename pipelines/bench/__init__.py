"""Benchmarks: seconds, kernel passes and residuals side by side in one run."""
