"""Dense linear algebra in blocks, on the threads of the package."""
