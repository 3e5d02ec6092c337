"""From frames to what the model takes: silhouettes, edge points, and several views of one instant."""
