"""Frames of a video to poses, as a stream: which frames, where silhouettes come from, stages that overlap."""
