"""A2A: an agent of ours, served to agents elsewhere."""
