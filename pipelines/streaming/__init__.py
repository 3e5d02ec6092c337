"""From a video's frames to poses, as a stream: choice of frames, source of silhouettes, overlapping stages."""
