"""Viewing and editing text files without changing a byte that was not asked for."""
