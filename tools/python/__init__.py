"""Running Python code in a process of its own."""
