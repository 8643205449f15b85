"""A trail as one HTML page that needs nothing else: no script, no network, every text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from .trail import Call, Step, argument_lines

LONG_TEXT = 700
"""Characters above which a result is folded."""

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #4a5fc1; --bad: #c0392b; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; margin: 0 0 .5rem; }
h2 { font-size: .8rem; margin: 0; color: var(--accent); text-transform: uppercase; letter-spacing: .05em; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0 0 1rem; }
dt { opacity: .7; } dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
section { border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem; margin: 0 0 1rem; }
article { border-left: 3px solid var(--accent); padding: 0 0 0 1rem; margin: 2rem 0; }
section.note { opacity: .75; }
p, pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .4rem 0; }
pre, code { font: 13px/1.45 ui-monospace, monospace; }
pre { background: var(--soft); border-radius: .3rem; padding: .5rem .7rem; }
.call { display: grid; grid-template-columns: minmax(0, 1fr); gap: .5rem 1rem; border-top: 1px solid var(--line); }
.call { margin-top: .6rem; padding-top: .6rem; }
@media (min-width: 56rem) { .call.seen { grid-template-columns: minmax(0, 1fr) 26rem; } }
.error { color: var(--bad); }
img { max-width: 100%; border: 1px solid var(--line); border-radius: .3rem; display: block; margin: 0 0 .5rem; }
summary { cursor: pointer; }
"""

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
"""What the page may load: nothing. Texts of web sites and of models are shown in it."""


def trail_page(
    title: str,
    facts: Sequence[tuple[str, str]],
    steps: Iterable[Step],
    answer: str = "",
    children: Iterable[tuple[str, Sequence[Step]]] = (),
) -> str:
    """The page.

    Args:
        title: The task, in the person's words.
        facts: Name and value of what is said of the thread as a whole.
        steps: The trail.
        answer: What the agent said at the end.
        children: Name and trail of each agent that did a part of it, in order.
    """
    body = [f"<h1>{escape(title)}</h1>", "<dl>", *(_fact(*fact) for fact in facts), "</dl>", *_sections(steps)]
    if answer:
        body.append(f"<section><h2>Answer</h2><p>{escape(answer)}</p></section>")
    body += [_child(name, trail) for name, trail in children]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style></head><body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _fact(name: str, value: str) -> str:
    return f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"


def _sections(steps: Iterable[Step]) -> Iterator[str]:
    number = 0
    for step in steps:
        number += step.role == "agent"
        heading = {"person": "Task", "note": "Note to the agent"}.get(step.role, f"Step {number}")
        said = f"<p>{escape(step.text)}</p>" if step.text else ""
        calls = "".join(map(_call, step.calls))
        yield f'<section class="{step.role}"><h2>{heading}</h2>{said}{_pictures(step.pictures)}{calls}</section>'


def _child(name: str, steps: Iterable[Step]) -> str:
    return f"<article><h1>{escape(name)}</h1>{''.join(_sections(steps))}</article>"


def _call(call: Call) -> str:
    arguments = "".join(f"<div><code>{escape(name)}</code>: {escape(value)}</div>" for name, value in _shown(call))
    pictures = _pictures(call.pictures, f"{call.name} {call.arguments.get('action', '')}".strip())
    side = f"<div>{pictures}</div>" if pictures else ""
    what = f"<div><b>{escape(_title(call))}</b>{arguments}{_result(call)}</div>"
    return f'<div class="call{" seen" if side else ""}">{what}{side}</div>'


def _title(call: Call) -> str:
    action = call.arguments.get("action")
    return f"{call.name}: {action}" if isinstance(action, str) else call.name


def _shown(call: Call) -> Iterator[tuple[str, str]]:
    return ((name, value) for name, value in argument_lines(call.arguments) if name != "action")


def _result(call: Call) -> str:
    if call.status == "open":
        return "<p><i>no result yet</i></p>"
    kind = ' class="error"' if call.status == "error" else ""
    text = f"<pre{kind}>{escape(call.result)}</pre>"
    if len(call.result) <= LONG_TEXT:
        return text
    return f"<details><summary{kind}>{len(call.result)} characters</summary>{text}</details>"


def _pictures(pictures: Iterable[str], what: str = "picture") -> str:
    return "".join(f'<img src="{escape(picture)}" alt="{escape(what)}">' for picture in pictures)
