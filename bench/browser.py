"""Time of the browser's page state: a page of 1,000 interactive elements with ten frames, and a small one.

`python bench/browser.py [--rounds N] [--json FILE]` prints a table and writes the figures as JSON. Each figure is the
median and the minimum of the rounds, in milliseconds; Playwright's own `aria_snapshot` of the same page, in the same
run, stands beside ours. The targets are 400 ms for the large page and 15 ms for the small one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from threading import Thread
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.table import Table

from clew.tools.browser.guard import PublicAddresses
from clew.tools.browser.session import BrowserSession
from clew.tools.browser.settings import BrowserSettings
from clew.tools.workspace import Workspace

FRAMES = 10
PER_FRAME = 10
ROWS = 300
TARGETS = {"large": 400.0, "large, whole page": 400.0, "small": 15.0}


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


def large_page() -> str:
    """900 elements in rows of three, and ten frames of ten."""
    rows = "".join(
        f"<tr><td>row {row}</td><td><a href='/{row}'>link {row}</a></td><td><button>button {row}</button></td>"
        f"<td><input name=field{row} placeholder='field {row}'></td></tr>"
        for row in range(ROWS)
    )
    frames = "".join("<iframe src=frame.html width=300 height=120></iframe>" for _ in range(FRAMES))
    return f"<!doctype html><title>Large</title>{frames}<table>{rows}</table>"


def small_page() -> str:
    """A page of the size of MiniWoB's: 160 pixels wide, a question and a handful of controls."""
    boxes = "".join(f"<label><input type=checkbox> choice {place}</label><br>" for place in range(5))
    form = f"<form>{boxes}<input type=text><button>Submit</button></form>"
    return f"<!doctype html><title>Small</title><div style='width:160px'><p>Tick two and submit.</p>{form}</div>"


def frame_page() -> str:
    return "<!doctype html>" + "".join(f"<button>frame button {place}</button>" for place in range(PER_FRAME))


PAGES: dict[str, Callable[[], str]] = {"large.html": large_page, "small.html": small_page, "frame.html": frame_page}


async def timed(rounds: int, work: Callable[[], Awaitable[Any]]) -> list[float]:
    """Milliseconds of each round, after one that does not count."""
    await work()
    times = []
    for _ in range(rounds):
        start = perf_counter()
        await work()
        times.append(1000 * (perf_counter() - start))
    return times


async def measure(name: str, url: str, settings: BrowserSettings, rounds: int, workspace: Path) -> dict[str, Any]:
    """Figures of one page."""
    session = await BrowserSession.open(settings, Workspace(workspace), PublicAddresses(["127.0.0.1"]))
    try:
        page = await session.page()
        await page.goto(url, wait_until="load")
        state = await session.state()
        ours = await timed(rounds, session.state)
        theirs = await timed(rounds, partial(page.aria_snapshot, mode="ai"))
    finally:
        await session.close()
    return {
        "page": name,
        "indexed": state["interactive"],
        "beyond": state["beyond"]["elements_above"] + state["beyond"]["elements_below"],
        "characters": len(state["page"]),
        "state_ms": round(median(ours), 1),
        "state_min_ms": round(min(ours), 1),
        "aria_snapshot_ms": round(median(theirs), 1),
        "target_ms": TARGETS[name],
        "rounds": rounds,
    }


async def run(rounds: int, folder: Path) -> list[dict[str, Any]]:
    """Figures of all pages."""
    for name, page in PAGES.items():
        await asyncio.to_thread((folder / name).write_text, page(), encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    whole = BrowserSettings(margin=None, state_tokens=1_000_000)
    try:
        return [
            await measure("large", f"{address}/large.html", BrowserSettings(), rounds, folder),
            await measure("large, whole page", f"{address}/large.html", whole, rounds, folder),
            await measure("small", f"{address}/small.html", BrowserSettings(), rounds, folder),
        ]
    finally:
        server.shutdown()
        server.server_close()


def show(figures: list[dict[str, Any]]) -> None:
    """Print the table."""
    table = Table(title="Page state, milliseconds")
    for column in figures[0]:
        table.add_column(column, justify="right")
    for row in figures:
        table.add_row(*map(str, row.values()))
    Console().print(table)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(run(options.rounds, Path(folder)))
    show(figures)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
