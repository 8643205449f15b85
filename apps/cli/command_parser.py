"""The parser of a command, which refuses in its own name what it does not know."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any


class CommandParser(ArgumentParser):
    """A parser whose commands show their own usage: argparse leaves what one does not know to the outermost parser."""

    def parse_known_args(self, args: Iterable[str] | None = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse as ever; exit with code 2 where anything is left over."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            wrong = f"unrecognized arguments: {' '.join(unknown)}{self._nearest(unknown)}"
            self.error(f"{wrong}; `{self.prog} --help` lists what there is")
        return found, unknown

    def _nearest(self, unknown: Sequence[str]) -> str:
        flags = [word.partition("=")[0] for word in unknown if word.startswith("--")]
        near = get_close_matches(flags[0], self._option_string_actions, n=1) if flags else []
        return f" (did you mean {near[0]}?)" if near else ""
