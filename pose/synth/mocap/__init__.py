"""What motion capture records of a body: its markers, and the files that hold them."""
