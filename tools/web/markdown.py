"""HTML as Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urljoin

from bs4 import BeautifulSoup
from markdownify import MarkdownConverter

DROPPED = ("script", "style", "noscript", "svg", "canvas", "iframe", "head", "title", "link", "meta")
"""Elements that say nothing to a reader."""


@dataclass(frozen=True)
class Document:
    """What a page says."""

    title: str
    text: str
    """Markdown with absolute links."""

    links: list[str]
    """Addresses that it links to, each once, in order."""


def to_markdown(html: str, url: str) -> str:
    """HTML as Markdown with absolute links. Blocking: a large page takes seconds."""
    return read_html(html, url).text


def read_html(html: str, url: str) -> Document:
    """Title, text and links of HTML. Blocking: a large page takes seconds."""
    soup = BeautifulSoup(html, "html.parser")
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    base = soup.find("base", href=True)
    _make_absolute(soup, _join(url, str(base["href"])) if base else url)
    for tag in soup.find_all("template", attrs={"shadowrootmode": True}):
        tag.name = "div"
    for tag in soup.find_all([*DROPPED, "template"]):
        tag.decompose()
    links = [str(tag["href"]) for tag in soup.find_all("a", href=True)]
    web = [link for link in dict.fromkeys(links) if link.startswith(("http://", "https://"))]
    return Document(" ".join(title.split()), re.sub(r"\n{3,}", "\n\n", _text(soup)).strip(), web)


def _make_absolute(soup: BeautifulSoup, base: str) -> None:
    for name, attribute in (("a", "href"), ("img", "src")):
        for tag in soup.find_all(name, attrs={attribute: True}):
            tag[attribute] = _join(base, str(tag[attribute]))


def _join(base: str, link: str) -> str:
    try:
        return urljoin(base, link)
    except ValueError:
        # Pages have links that are no addresses, such as `http://[`.
        return link


def _text(soup: BeautifulSoup) -> str:
    try:
        return str(MarkdownConverter(heading_style="ATX", bullets="-").convert_soup(soup))
    except RecursionError:
        # The converter calls itself for each level, and some pages nest a thousand of them.
        return soup.get_text("\n", strip=True)
