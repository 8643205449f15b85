"""The command line: one file per command, each with `run(arguments) -> int`, the exit code."""
