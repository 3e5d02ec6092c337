"""What joins silhouettes to Gaussian processes: train, evaluate, predict, and the command line."""
