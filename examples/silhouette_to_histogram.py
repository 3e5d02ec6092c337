"""
From a silhouette to a histogram
================================

How the descriptor HistoSC sees a figure: edge points, shape contexts, words, one histogram.
"""

import cv2
import matplotlib.pyplot as plt
import numpy as np

from pose import HistoSC, sample_edges
from pose.descriptor.picture import draw_descriptor

# %%
# Silhouettes are arrays (h, w), zero where nobody is. Here: a stick figure that walks.

n_words = 50


def walker(step: int) -> np.ndarray:
    """Draw the figure at one step of its walk, (240, 200)."""
    mask = np.zeros((240, 200), np.uint8)
    swing = round(40 * np.sin(step / 5))
    cv2.circle(mask, (100, 40), 18, 255, -1)
    trunk, legs = [(100, 60), (100, 130)], [(100 + swing, 220), (100, 130), (100 - swing, 220)]
    for line in (trunk, legs, [(130 - swing, 130), (100, 70)]):
        cv2.polylines(mask, [np.array(line)], False, 255, 18)
    return mask


masks = [walker(step) for step in range(60)]

# %%
# Edge points lie evenly on the contour.
print("edge points", sample_edges(masks[8], n_points=400).shape)

# %%
# ``fit`` learns the words from all shape contexts by k-means, ``transform`` counts them. A row sums to 1.

histosc = HistoSC(n_words=n_words, random_state=0)
histograms = histosc.fit_transform(masks)
print("histograms", histograms.shape, "sum of a row", round(float(histograms[0].sum()), 6))

# %%
# The walk repeats after 31 steps, and its histograms with it.

distances = np.linalg.norm(histograms - histograms[8], axis=1)
print("of the steps from 20 on, the one most like step 8:", 20 + int(np.argmin(distances[20:])))

# %%
# The picture: edge points, the shape context of one of them, the words of all of them, and the histogram.

figure = draw_descriptor(masks[8], histosc)
figure.canvas.draw()
plt.figure(figsize=figure.get_size_inches(), layout="constrained")
plt.imshow(figure.canvas.buffer_rgba())
plt.axis("off")
plt.show()
