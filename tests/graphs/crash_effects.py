"""The agent of `crash_agent` with calls that must not be repeated, for `crashes`."""

from functools import partial

from crash_agent import build
from crashes import main

if __name__ == "__main__":
    main(partial(build, idempotent=False))
