"""Checkpoints: savers and what is kept of threads."""
