"""Evaluation: a model on a partition, as tables, pictures and a page."""
