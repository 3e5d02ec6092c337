"""Dense linear algebra: Cholesky factorizations in blocks on the package's threads, BLAS calls, and norms."""
