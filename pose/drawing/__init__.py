"""What is drawn on pictures of a video: contours, skeletons, flags, and the views beside them."""
