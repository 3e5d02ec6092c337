"""What cameras see: the room, a body in its clothes, their pictures, and the video files these are written to."""
