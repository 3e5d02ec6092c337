"""From a mask to its histogram: edge points, shape contexts, the codebook, HistoSC."""
