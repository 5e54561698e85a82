"""What is timed against what; `make bench` runs all of it."""
