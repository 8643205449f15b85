"""Search engines, one a file, behind one protocol."""
