"""Kernel parameters and noise: what they are judged by, and the search for them."""
