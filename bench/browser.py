"""Time of the browser's page state: a page of 1,000 interactive elements with ten frames, and a small one.

`python bench/browser.py [--rounds N] [--json FILE]` prints a table and writes the figures as JSON. Each figure is the
median and the minimum of the rounds, in milliseconds. In the same run and on the same pages stand beside ours the
`aria_snapshot` of Playwright itself, the `browser_snapshot` of @playwright/mcp over stdio, and the state of
browser-use. Its environment and that of @playwright/mcp are made once, in `bench/out/`; `--alone` leaves them out. The
targets are 400 ms for the large page and 15 ms for the small one. The minimum is what other work on the machine
disturbs least.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from threading import Thread
from time import perf_counter
from typing import Any

from environments import OUT, python_of
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from rich.console import Console
from rich.table import Table

from clew.tools.browser.finding import find_browser
from clew.tools.browser.session import BrowserSession
from clew.tools.browser.settings import BrowserSettings
from clew.tools.web.guard import PublicAddresses
from clew.tools.workspace import Workspace

FRAMES = 10
PER_FRAME = 10
ROWS = 300
TARGETS = {"large": 400.0, "large, whole page": 400.0, "small": 15.0}


BROWSER_USE = "browser-use==0.13.14"
PLAYWRIGHT_MCP = "@playwright/mcp@0.0.83"


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


async def measure(name: str, url: str, settings: BrowserSettings, rounds: int, workspace: Path) -> list[dict[str, Any]]:
    """Figures of one page: ours, and those of Playwright itself."""
    session = await BrowserSession.open(settings, Workspace(workspace), PublicAddresses(["127.0.0.1"]))
    try:
        page = await session.page()
        await page.goto(url, wait_until="load")
        state = await session.state()
        ours = await timed(rounds, session.state)
        snapshot = await page.aria_snapshot(mode="ai")
        theirs = await timed(rounds, partial(page.aria_snapshot, mode="ai"))
    finally:
        await session.close()
    beyond = state["beyond"]["elements_above"] + state["beyond"]["elements_below"]
    return [
        figures(name, "clew", ours, state["interactive"], len(state["page"]), beyond, TARGETS[name]),
        figures(name, "playwright aria_snapshot", theirs, references(snapshot), len(snapshot)),
    ]


def figures(
    page: str, who: str, times: list[float], indexed: int, characters: int, beyond: int = 0, target: float | None = None
) -> dict[str, Any]:
    """One line of the table; times are in milliseconds."""
    return {
        "page": page,
        "who": who,
        "minimum": round(min(times), 1),
        "median": round(median(times), 1),
        "target": target,
        "indexed": indexed,
        "told of beyond": beyond,
        "characters": characters,
        "rounds": len(times),
    }


def references(snapshot: str) -> int:
    """Elements that a snapshot of Playwright gives a reference."""
    return len(re.findall(r"\[ref=", snapshot))


async def browser_use_figures(pages: dict[str, str], rounds: int) -> list[dict[str, Any]]:
    """Figures of browser-use, in an environment of its own."""
    python = await asyncio.to_thread(python_of, "browser-use", [BROWSER_USE])
    script = Path(__file__).parent / "contestants" / "browser_use_state.py"
    browser = find_browser(BrowserSettings()).location
    process = await asyncio.create_subprocess_exec(
        python, str(script), browser, str(rounds), *pages.values(), stdout=subprocess.PIPE
    )
    out, _ = await process.communicate()
    found = json.loads(out.decode().strip().splitlines()[-1])
    return [
        figures(page, "browser-use", each["times"], each["indexed"], each["characters"])
        for page, each in zip(pages, found, strict=True)
    ]


def playwright_mcp() -> Path:
    """The server's program, installed once."""
    folder = OUT / "envs" / "playwright-mcp"
    program = folder / "node_modules" / "@playwright" / "mcp" / "cli.js"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", PLAYWRIGHT_MCP]
        subprocess.run(npm, cwd=folder, check=True)
    return program


async def playwright_mcp_figures(pages: dict[str, str], rounds: int) -> list[dict[str, Any]]:
    """Figures of @playwright/mcp, whose answers come over stdio as a client gets them."""
    program = await asyncio.to_thread(playwright_mcp)
    browser = find_browser(BrowserSettings()).location
    options = ["--headless", "--isolated", "--executable-path", browser, "--viewport-size", "1280,900"]
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    server = StdioServerParameters(command="node", args=[str(program), *options, *sandbox])
    found = []
    async with stdio_client(server) as streams, ClientSession(*streams) as client:
        await client.initialize()
        for page, url in pages.items():
            await client.call_tool("browser_navigate", {"url": url})
            look = partial(client.call_tool, "browser_snapshot", {})
            text = "".join(getattr(block, "text", "") for block in (await look()).content)
            found.append(figures(page, "@playwright/mcp", await timed(rounds, look), references(text), len(text)))
    return found


async def run(rounds: int, folder: Path, alone: bool) -> list[dict[str, Any]]:
    """Figures of all pages."""
    for name, page in PAGES.items():
        await asyncio.to_thread((folder / name).write_text, page(), encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    large, small = f"{address}/large.html", f"{address}/small.html"
    whole = BrowserSettings(margin=None, state_tokens=1_000_000)
    try:
        ours, _ = await measure("large, whole page", large, whole, rounds, folder)
        rows = [*await measure("large", large, BrowserSettings(), rounds, folder), ours]
        rows += await measure("small", small, BrowserSettings(), rounds, folder)
        if not alone:
            pages = {"large": large, "small": small}
            rows += await browser_use_figures(pages, rounds) + await playwright_mcp_figures(pages, rounds)
        return sorted(rows, key=lambda row: list(TARGETS).index(row["page"]))
    finally:
        server.shutdown()
        server.server_close()


def show(rows: list[dict[str, Any]]) -> None:
    """Print the table."""
    table = Table(title="Page state, milliseconds")
    for column in rows[0]:
        table.add_column(column, justify="left" if column in ("page", "who") else "right")
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row.values()))
    Console(width=120).print(table)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--alone", action="store_true", help="without browser-use and @playwright/mcp")
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(run(options.rounds, Path(folder), options.alone))
    show(rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
