"""The demo: a plan on real data is killed in the middle, taken up by another process, and looked at."""

from __future__ import annotations

import asyncio
import secrets
import shlex
from contextlib import closing
from pathlib import Path

from ...state.errors import ClewError
from ...state.settings import load_settings
from ...state.stream import Event, ToolEndEvent, ToolStartEvent
from ..cli.report import Reporter, plural
from ..cli.reporters import make_reporter
from ..cli.table import print_table
from .child import start
from .evidence import StepEvidence, read_evidence

TASK = "Find out what this Python environment holds, and write a report with tables and charts."

UNASKED = ["--confirm", "never"]
"""The programs are clew's own, so nobody is asked about them where no sandbox contains them."""

SCRIPT = Path(__file__).parent / "script.py"

OPENING = """clew's demo: agents examine the Python environment that clew itself runs in.
The model is scripted: what it says was written beforehand. All else is real: the graph, the tools, the checkpoints,
the crash and every number. No key and no network are needed.
"""


class Moment:
    """The moment for the crash: one of two analyses is done, and a program is running."""

    def __init__(self) -> None:
        self._ended = 0
        self._running: set[str] = set()

    def is_ripe(self, event: Event) -> bool:
        """Look at one more event."""
        if isinstance(event, ToolStartEvent) and event.name == "python_execute":
            self._running.add(event.id)
        elif isinstance(event, ToolEndEvent):
            self._running.discard(event.id)
            self._ended += event.name == "terminate"
        return self._ended >= 2 and bool(self._running)


def run(workspace: Path | None = None) -> int:
    """Show the whole of it and return the exit code.

    Args:
        workspace: Folder of the plan's files; None for one of its own below `<home>/demo`, where the threads are too.

    Raises:
        ClewError: something did not go as it must.
    """
    home = load_settings().home.absolute() / "demo"
    home.mkdir(parents=True, exist_ok=True)
    thread = f"demo-{secrets.token_hex(3)}"
    folder = workspace.absolute() if workspace else home / thread
    print(OPENING, flush=True)
    before = _crash(home, thread, folder)
    after = _resume(home, thread)
    _compare(before, after)
    _close(home, thread, folder)
    return 0


def _crash(home: Path, thread: str, folder: Path) -> list[StepEvidence]:
    place = ["--thread", thread, "--workspace", str(folder), *_database(home)]
    arguments = ["plan", TASK, "--model", f"script:{SCRIPT}", "--agents", "manus,data_analysis", *place, *UNASKED]
    _say_command(arguments)
    reporter, moment = make_reporter(json=False), Moment()
    with start(arguments, home) as child, closing(reporter):
        for event in child.events():
            reporter.show(event)
            if moment.is_ripe(event):
                code = child.kill()
                break
        else:
            child.finish()
            raise ClewError("the plan ended before it could be killed: run the demo again")
    print(f"\nkill -9 {child.pid}: the process is dead (killed by signal {-code}). Its checkpoints say:\n", flush=True)
    evidence = asyncio.run(read_evidence(home, thread))
    rows = [(step.id, step.text, step.standing, plural(len(step.saved), "call")) for step in evidence]
    print_table(("step", "what", "where it stood", "saved"), rows)
    return evidence


def _resume(home: Path, thread: str) -> list[StepEvidence]:
    print("\nAnother process takes the thread up from there.\n")
    arguments = ["resume", thread, *_database(home)]
    _say_command(arguments)
    reporter: Reporter = make_reporter(json=False)
    with start(arguments, home) as child, closing(reporter):
        for event in child.events():
            reporter.show(event)
        child.finish()
    return asyncio.run(read_evidence(home, thread))


def _compare(before: list[StepEvidence], after: list[StepEvidence]) -> None:
    print("\nWhat was repeated, by the calls that the checkpoints hold:\n", flush=True)
    print_table(
        ("step", "what", "calls before", "calls after", "so"),
        [_row(old, new) for old, new in zip(before, after, strict=True)],
    )
    lost = [call for old, new in zip(before, after, strict=True) for call in old.saved if call not in new.saved]
    if lost:
        raise ClewError(f"{plural(len(lost), 'saved call')} went lost: please report this")


def _row(old: StepEvidence, new: StepEvidence) -> tuple[str, str, str, str, str]:
    made = [call for call in new.saved if call not in old.saved]
    return new.id, new.text, str(len(old.saved)), str(len(made)), _verdict(old, len(made))


def _verdict(old: StepEvidence, made: int) -> str:
    if old.open:
        return f"{' and '.join(old.open)} was cut off, and called again"
    if not old.saved:
        return "begun after the crash"
    return "nothing repeated" if made == 0 else "went on where it was"


def _close(home: Path, thread: str, folder: Path) -> None:
    report = folder / "report.html"
    if not report.is_file():
        raise ClewError(f"there is no {report}: run the demo again")
    print(f"\nThe report: {report}\nOpen it in a browser. The thread is still there:")
    for name in ("show", "history"):
        print(f"  {shlex.join(['clew', name, thread, *_database(home)])}")


def _database(home: Path) -> list[str]:
    return ["--db", str(home / "clew.db")]


def _say_command(arguments: list[str]) -> None:
    print(f"$ {shlex.join(['clew', *arguments])}", flush=True)
