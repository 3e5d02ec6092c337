"""Silhouettes, shape contexts, HistoSC descriptors, skeletons and HumanEva data."""
