"""The strict loader of prompt files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template

from ..state.errors import UsageError

REFERENCE = "prompt:"
"""A spec's prompt that begins so names a prompt file instead of being the text."""


def load_prompt(name: str, **variables: str) -> str:
    """The text of `prompts/<name>.md` with each `$variable` filled in.

    Raises:
        UsageError: there is no such prompt, a variable is missing, or one is given that the prompt does not use.
    """
    template = prompt_template(name)
    if surplus := sorted(variables.keys() - set(template.get_identifiers())):
        raise UsageError(f"prompt {name!r} does not use {', '.join(surplus)}")
    return fill(template, variables)


@cache
def prompt_template(name: str) -> Template:
    """The prompt file `name`, read once.

    Raises:
        UsageError: there is no such prompt.
    """
    folder = Path(__file__).parent
    path = folder / f"{name}.md"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in folder.glob("*.md")))
        raise UsageError(f"no prompt {name!r}; there are: {known}")
    return Template(path.read_text(encoding="utf-8").strip())


def spec_template(prompt: str) -> Template:
    """The template of a spec's prompt: a file if it begins with `prompt:`, else the text as it stands."""
    if prompt.startswith(REFERENCE):
        return prompt_template(prompt.removeprefix(REFERENCE))
    return Template(prompt.replace("$", "$$"))


def fill(template: Template, variables: Mapping[str, str]) -> str:
    """The template's text with the variables that it names.

    Raises:
        UsageError: the template names a variable that is not given.
    """
    try:
        return template.substitute(variables)
    except KeyError as error:
        raise UsageError(f"a prompt needs the variable {error.args[0]!r}, which is not given here") from error


def preload_prompts() -> None:
    """Read every prompt file, so that no node has to read one on an event loop."""
    for path in Path(__file__).parent.glob("*.md"):
        prompt_template(path.stem)
