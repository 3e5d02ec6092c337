"""What a body does: motions that are generated (walking, boxing, gestures, ball play), and captured clips on a body."""
