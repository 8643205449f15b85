"""A persistent bash session on pipes."""
