"""A2A: agents elsewhere."""
