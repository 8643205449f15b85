"""Rules of the code that no linter knows."""

from __future__ import annotations

import ast
import re

from source_tree import ROOT, SourceFile, absolute_imports, library

MOST_LINES_OF_A_FILE = 300
MOST_LINES_OF_A_FUNCTION = 60
MOST_BROAD_EXCEPTS = 12

BANNED_NAMES = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}
"""File names that say nothing of what is in the file."""

AT_IMPORT = (
    ast.Import,
    ast.ImportFrom,
    ast.Assign,
    ast.AnnAssign,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Try,
)
"""Statements that may stand at the top of a file."""


def is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def is_guard(statement: ast.stmt) -> bool:
    """Whether a statement is `if TYPE_CHECKING`, `if sys.…` or `if __name__ == …`."""
    return isinstance(statement, ast.If) and bool(
        re.search(r"\b(TYPE_CHECKING|sys\.\w+|__name__)\b", ast.unparse(statement.test))
    )


def decorators(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}


def undocumented(file: SourceFile, body: list[ast.stmt]) -> list[str]:
    """Public functions and classes in a body, and in the public classes there, that have no docstring."""
    faults = []
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        inherits = not isinstance(node, ast.ClassDef) and decorators(node) & {"overload", "override", "setter"}
        if not inherits and ast.get_docstring(node) is None:
            faults.append(f"{file.at(node)}: {node.name}")
        if isinstance(node, ast.ClassDef):
            faults += undocumented(file, node.body)
    return faults


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Whether a handler swallows every error; one that cleans up and raises again does not."""
    if isinstance(handler.body[-1], ast.Raise) and handler.body[-1].exc is None:
        return False
    caught = handler.type
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(name is None or ast.unparse(name) in {"Exception", "BaseException"} for name in names)


def broad_excepts() -> list[tuple[SourceFile, ast.ExceptHandler]]:
    return [
        (file, node)
        for file in library()
        for node in ast.walk(file.tree)
        if isinstance(node, ast.ExceptHandler) and is_broad(node)
    ]


def test_the_files_of_packages_hold_a_docstring_and_nothing_else() -> None:
    paths = [ROOT / "__init__.py", *(ROOT / file.path for file in library() if file.path.name == "__init__.py")]
    faults = [
        str(path.relative_to(ROOT))
        for path in paths
        if path.parent != ROOT / "graphs"
        and [is_docstring(part) for part in ast.parse(path.read_text()).body] != [True]
    ]
    assert not faults, f"keep only the docstring (graphs/__init__.py alone is a public API): {', '.join(faults)}"


def test_every_file_begins_with_a_docstring() -> None:
    faults = [str(file.path) for file in library() if ast.get_docstring(file.tree) is None]
    assert not faults, f"say in one line what is in: {', '.join(faults)}"


def test_no_file_is_too_long() -> None:
    faults = [
        f"{file.path}: {lines} lines"
        for file in library()
        if (lines := len(file.text.splitlines())) > MOST_LINES_OF_A_FILE
    ]
    assert not faults, f"a file over {MOST_LINES_OF_A_FILE} lines holds two ideas, split it:\n" + "\n".join(faults)


def test_no_function_is_too_long() -> None:
    faults = [
        f"{file.at(function)}: {function.name} has {lines} lines"
        for file in library()
        for function in file.functions()
        if (lines := (function.end_lineno or 0) - function.lineno + 1) > MOST_LINES_OF_A_FUNCTION
    ]
    assert not faults, f"take a step out of functions over {MOST_LINES_OF_A_FUNCTION} lines:\n" + "\n".join(faults)


def test_file_names_say_what_is_in_the_file() -> None:
    faults = [str(file.path) for file in library() if BANNED_NAMES & set(file.path.stem.split("_"))]
    assert not faults, f"name the file after the thing it holds: {', '.join(faults)}"


def test_everything_public_has_a_docstring() -> None:
    faults = [fault for file in library() for fault in undocumented(file, file.tree.body)]
    assert not faults, "give it one line of purpose:\n" + "\n".join(faults)


def explained(field: ast.AnnAssign, below: ast.stmt) -> bool:
    """Whether a field has its line below it, or a description, or is but the tag of a union."""
    tag = ast.unparse(field.annotation).startswith(("Literal['", "ClassVar"))
    described = field.value is not None and "description=" in ast.unparse(field.value)
    return tag or described or is_docstring(below)


def test_fields_of_the_state_and_of_settings_are_explained() -> None:
    faults = [
        f"{file.at(field)}: {ast.unparse(field.target)}"
        for file in library()
        if file.folder == "state"
        for owner in ast.walk(file.tree)
        if isinstance(owner, ast.ClassDef)
        for field, below in zip(owner.body, [*owner.body[1:], ast.Pass()], strict=True)
        if isinstance(field, ast.AnnAssign) and not explained(field, below)
    ]
    assert not faults, "put a one-line docstring under the field:\n" + "\n".join(faults)


def test_a_broad_except_gives_its_reason() -> None:
    faults = [
        file.at(handler)
        for file, handler in broad_excepts()
        if not any("#" in line for line in file.text.splitlines()[handler.lineno - 2 : handler.lineno + 1])
    ]
    assert not faults, f"catch what you can handle, or say why all in a comment beside it: {', '.join(faults)}"


def test_broad_excepts_stay_rare() -> None:
    places = [file.at(handler) for file, handler in broad_excepts()]
    assert len(places) <= MOST_BROAD_EXCEPTS, f"narrow some of these {len(places)}: {', '.join(places)}"


def test_state_types_come_from_typing_extensions() -> None:
    faults = [
        file.at(node) for file in library() for node, name in absolute_imports(file) if name == "typing.TypedDict"
    ]
    faults += [
        file.at(node)
        for file in library()
        for node in ast.walk(file.tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "typing.TypedDict"
    ]
    assert not faults, f"import TypedDict from typing_extensions: {', '.join(faults)}"


def test_nothing_works_at_import() -> None:
    faults = [
        f"{file.at(statement)}: {ast.unparse(statement).splitlines()[0]}"
        for file in library()
        for statement in file.tree.body
        if not (isinstance(statement, AT_IMPORT) or is_docstring(statement) or is_guard(statement))
        if file.path.name != "__main__.py"
    ]
    assert not faults, "move it into a function:\n" + "\n".join(faults)


def test_no_function_rebinds_a_name_of_its_file() -> None:
    faults = [file.at(node) for file in library() for node in ast.walk(file.tree) if isinstance(node, ast.Global)]
    assert not faults, f"hold it in an object that is passed in: {', '.join(faults)}"
