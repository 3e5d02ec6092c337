"""From silhouettes to poses by Gaussian processes: training, evaluation, prediction, and the command line."""
