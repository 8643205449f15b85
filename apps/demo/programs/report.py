"""Make report.html, one page that needs no other file, from inventory.json, dependencies.json and disk.json.

A chart that was drawn into the folder visualization comes first.
"""

from __future__ import annotations

import json
import platform
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from math import pi, sqrt
from pathlib import Path
from typing import Any

STYLE = """
:root { --ink: #1d2733; --soft: #66727f; --line: #dde3e9; --bar: #2f6f8f; --arc: #c0603c; --paper: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9ee; --soft: #98a4b0; --line: #313b46; --bar: #5aa3c4; --arc: #df8a66; --paper: #161c23; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 62rem; margin: 2.5rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.7rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2.2rem 0 .6rem; } p { color: var(--soft); }
.figures { display: grid; grid-template-columns: repeat(4, 1fr); gap: 1rem; margin: 1.5rem 0; }
.figures div { border-top: 3px solid var(--bar); padding-top: .4rem; color: var(--soft); }
.figures b { display: block; font-size: 1.5rem; color: var(--ink); }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0 2.5rem; }
svg, img { width: 100%; height: auto; } img { max-width: 46rem; }
svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
svg .soft { fill: var(--soft); } rect { fill: var(--bar); } path { fill: none; stroke: var(--arc); opacity: .55; }
circle { fill: var(--bar); }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; padding: .25rem .5rem; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; } .number { text-align: right; font-variant-numeric: tabular-nums; }
"""

BARS = 12
"""Bars of a chart; what comes after is left out, and the table has it."""

LINKED = 26
"""Packages in the drawing of who depends on whom."""


def main() -> None:
    """Write the page and say how large it is."""
    packages, links, disk = (
        json.loads(Path(name).read_text(encoding="utf-8"))
        for name in ("inventory.json", "dependencies.json", "disk.json")
    )
    page = Path("report.html")
    drawn = next(iter(sorted(Path("visualization").glob("*.svg"))), None)
    chart = drawn.read_bytes() if drawn else None
    page.write_text(document(packages, links, disk, chart), encoding="utf-8")
    print(f"report.html has {len(packages)} packages in its table and {page.stat().st_size / 1000:.0f} kB.")


def document(
    packages: list[dict[str, Any]], links: dict[str, Any], disk: dict[str, Any], chart: bytes | None = None
) -> str:
    """The whole page; `chart` is an SVG of the sizes, without which a plain one is made here."""
    by_size = sorted(packages, key=lambda package: -package["bytes"])
    sizes = [(package["name"], package["bytes"]) for package in by_size]
    names = [name for name, _ in linked_most(links["edges"])]
    return "\n".join(
        [
            '<!doctype html><html lang="en"><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>What this Python environment holds</title><style>{STYLE}</style>",
            "<h1>What this Python environment holds</h1>",
            f"<p>Python {platform.python_version()} on {platform.system()}, measured by the agents of clew's demo. "
            "The model that led them was scripted; every number here was measured on this machine.</p>",
            figures(packages, links, disk),
            picture(chart) if chart else section("Disk use by package", bars(sizes, megabytes)),
            '<div class="pair">',
            section("Disk use by kind of file", bars(disk["kinds"], megabytes, width=460)),
            section("Licences as stated", bars(links["licences"], str, width=460)),
            "</div>",
            section(f"Who depends on whom: the {len(names)} packages with most links", arcs(names, links["edges"])),
            "<p>An arc joins a package and one that it needs; a larger dot is needed by more.</p>",
            section("Largest files", largest(disk["largest"])),
            section("All packages", table(by_size, dict(links["used_by"]))),
            "</html>",
        ]
    )


def section(title: str, content: str) -> str:
    """A heading with what belongs to it."""
    return f"<section><h2>{escape(title)}</h2>{content}</section>"


def figures(packages: list[dict[str, Any]], links: dict[str, Any], disk: dict[str, Any]) -> str:
    """The four totals."""
    totals = [
        ("packages", f"{len(packages):,}", f"packages, {len(links['roots'])} needed by no other"),
        ("bytes", megabytes(sum(package["bytes"] for package in packages)), "on the disk"),
        (
            "files",
            f"{sum(package['files'] for package in packages):,}",
            f"files, {disk['copies']['files']} of them copies",
        ),
        ("dependencies", f"{len(links['edges']):,}", "dependencies among them"),
    ]
    boxes = "".join(f'<div id="{key}"><b>{value}</b>{escape(text)}</div>' for key, value, text in totals)
    return f'<div class="figures">{boxes}</div>'


def picture(chart: bytes) -> str:
    """A drawn chart within the page."""
    address = f"data:image/svg+xml;base64,{b64encode(chart).decode()}"
    return f'<section><img alt="Bars of the packages by size" src="{address}"></section>'


def bars(values: Sequence[Sequence[Any]], write: Any, width: int = 960) -> str:
    """A bar for each of the first values, with its name before and its number behind."""
    shown, left = values[:BARS], 155 if width < 900 else 190
    most = max((value for _, value in shown), default=1) or 1
    rows = []
    for place, (name, value) in enumerate(shown):
        length, y = max(1.0, (width - left - 80) * value / most), place * 22
        rows.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{escape(short(name, left // 8))}</text>')
        rows.append(f'<rect x="{left}" y="{y + 3}" width="{length:.1f}" height="15" rx="2"/>')
        rows.append(f'<text class="soft" x="{left + length + 6:.1f}" y="{y + 14}">{escape(write(value))}</text>')
    return f'<svg viewBox="0 0 {width} {len(shown) * 22 + 4}" role="img">{"".join(rows)}</svg>'


def arcs(names: Sequence[str], edges: Iterable[Sequence[str]]) -> str:
    """The packages on a line, and an arc above it for each dependency between two of them."""
    places = {name: 20 + place * 920 / max(1, len(names) - 1) for place, name in enumerate(names)}
    among = [(one, other) for one, other in edges if one in places and other in places]
    needed = {name: sum(other == name for _, other in among) for name in names}
    height = 230
    drawn = [arc(places[one], places[other], height) for one, other in among]
    for name, x in places.items():
        radius = 2.5 + 2 * sqrt(needed[name] / pi)
        drawn.append(f'<circle cx="{x:.0f}" cy="{height}" r="{radius:.1f}"/>')
        turn = f"rotate(-50 {x:.0f} {height + 16})"
        drawn.append(
            f'<text x="{x:.0f}" y="{height + 16}" text-anchor="end" transform="{turn}">{escape(short(name))}</text>'
        )
    return f'<svg viewBox="-60 0 1030 {height + 130}" role="img">{"".join(drawn)}</svg>'


def arc(start: float, end: float, base: int) -> str:
    """A half ellipse above the line, as high as the drawing allows."""
    across = abs(start - end) / 2
    shape = f"A{across:.0f} {min(across, base - 10):.0f} 0 0 {int(start < end)}"
    return f'<path d="M{start:.0f} {base} {shape} {end:.0f} {base}"/>'


def linked_most(edges: Iterable[Sequence[str]]) -> list[tuple[str, int]]:
    """The packages with most dependencies in either direction, in the order of their names."""
    links: dict[str, int] = {}
    for edge in edges:
        for name in edge:
            links[name] = links.get(name, 0) + 1
    most = sorted(links.items(), key=lambda item: (-item[1], item[0]))[:LINKED]
    return sorted(most)


def largest(files: Iterable[dict[str, Any]]) -> str:
    """The table of the largest files."""
    rows = [
        f"<tr><td>{escape(file['path'])}<td>{escape(file['package'])}<td class=number>{megabytes(file['bytes'])}"
        for file in files
    ]
    return f"<table><tr><th>File<th>Package<th class=number>Size{''.join(rows)}</table>"


def table(packages: Iterable[dict[str, Any]], used_by: dict[str, int]) -> str:
    """The table of all packages."""
    head = "".join(f"<th class=number>{title}" for title in ("Files", "Size", "Needs", "Needed by"))
    rows = [
        f'<tr data-bytes="{package["bytes"]}" data-files="{package["files"]}">'
        f"<td>{escape(package['name'])}<td>{escape(package['version'])}<td>{escape(package['licence'])}"
        f"<td class=number>{package['files']:,}<td class=number>{megabytes(package['bytes'])}"
        f"<td class=number>{len(package['requires'])}<td class=number>{used_by.get(package['name'], 0)}"
        for package in packages
    ]
    return f'<table id="all"><tr><th>Package<th>Version<th>Licence{head}\n{chr(10).join(rows)}</table>'


def megabytes(size: int) -> str:
    """Such as `12.3 MB`."""
    return f"{size / 1e6:,.1f} MB"


def short(name: str, length: int = 22) -> str:
    """The name, cut where it is too long for a chart."""
    return name if len(name) <= length else f"{name[: length - 1]}…"


if __name__ == "__main__":
    main()
