"""Studies of the pose pipeline: training options, and what is done to poses afterwards."""
