"""Ways in: each builds a graph and drives it."""
