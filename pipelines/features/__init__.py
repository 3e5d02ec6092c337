"""From frames to the model's inputs: silhouettes, edge points, histograms, and several views of one instant."""
