"""Training: a HumanEva tree in, a model with calibrated error bars out."""
