"""A synthetic data set in the HumanEva-I on-disk format, from our own body and motion."""
