"""What the figures of a benchmark mean: how sure they are, why they are so, what has changed."""
