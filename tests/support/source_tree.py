"""The library's own source, parsed: what the tests of the layout read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]

FLOORS = {
    "state": 1,
    "models": 2,
    "prompts": 2,
    "checkpoints": 2,
    "tools": 3,
    "nodes": 4,
    "graphs": 5,
    "apps": 6,
}
"""Floor of each folder; a file imports only from its own floor or below."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class SourceFile:
    """One Python file of the library."""

    path: Path
    """Path below the root of the repository."""

    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, str(self.path))

    @property
    def module(self) -> str:
        """Dotted name under which it is imported."""
        parts = self.path.with_suffix("").parts
        return ".".join(("clew", *parts)).removesuffix(".__init__")

    @property
    def package(self) -> list[str]:
        """Parts of the dotted name of the package that it is in."""
        return ["clew", *self.path.parent.parts]

    @property
    def folder(self) -> str:
        return self.path.parts[0]

    def at(self, node: ast.AST) -> str:
        """Where a node stands, as editors and people read it."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}"

    def functions(self) -> Iterator[Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))


@cache
def library() -> tuple[SourceFile, ...]:
    """Every Python file of the library but the root's `__init__.py`."""
    paths = sorted(path for folder in FLOORS for path in (ROOT / folder).rglob("*.py"))
    return tuple(SourceFile(path.relative_to(ROOT), path.read_text(encoding="utf-8")) for path in paths)


def absolute_imports(file: SourceFile) -> Iterator[tuple[ast.AST, str]]:
    """Each import statement with the dotted name that it loads, relative ones made absolute; lazy ones too."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = file.package[: len(file.package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *filter(None, [node.module])])
            yield from ((node, f"{origin}.{alias.name}") for alias in node.names)


def own_imports(file: SourceFile) -> Iterator[tuple[ast.AST, SourceFile]]:
    """Each import statement that loads a file of the library, with that file."""
    files = {other.module: other for other in library()}
    for node, name in absolute_imports(file):
        target = files.get(name) or files.get(name.rpartition(".")[0])
        if target is not None:
            yield node, target
