"""Video in, frame by frame with its numbers and times, and video out."""
