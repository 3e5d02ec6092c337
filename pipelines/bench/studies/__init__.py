"""Studies of the pose pipeline: training options, and postprocessing of poses."""
