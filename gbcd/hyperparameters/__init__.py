"""Kernel parameters and noise: the objectives, and the search that maximises them."""
