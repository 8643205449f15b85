"""A small repository under git, whose package has a fault that one of its tests shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

FILES = {
    ".gitignore": "__pycache__/\n.clew/\n",
    "README.md": "# shop\n\nWhat a basket costs. Tests: `python3 -m unittest`.\n",
    "shop/__init__.py": '"""A shop."""\n',
    "shop/rates.py": '"""Rates of the value added tax."""\n\nRATES = {"books": 0.07, "food": 0.07, "tools": 0.19}\n',
    "shop/prices.py": '''"""Prices of a basket."""

from shop.rates import RATES


def with_tax(net, kind):
    """A price with the tax of its kind."""
    return round(net * (1 + RATES[kind]), 2)


def total(basket):
    """What the pairs of a net price and a kind cost together, tax included."""
    amount = 0
    for net, kind in basket[1:]:
        amount += with_tax(net, kind)
    return round(amount, 2)
''',
    "tests/__init__.py": "",
    "tests/test_prices.py": """import unittest

from shop.prices import total, with_tax


class Prices(unittest.TestCase):
    def test_tools_have_the_full_rate(self):
        self.assertEqual(with_tax(100, "tools"), 119.0)

    def test_an_empty_basket_costs_nothing(self):
        self.assertEqual(total([]), 0)

    def test_a_basket_costs_what_is_in_it(self):
        self.assertEqual(total([(100, "tools"), (10, "books")]), 129.7)


if __name__ == "__main__":
    unittest.main()
""",
}

TEST_COMMAND = "python3 -m unittest"
"""How the README says that the tests are run."""


def make_repository(folder: Path) -> Path:
    """Write the repository and commit it."""
    for name, text in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    who = ("-c", "user.name=Founder", "-c", "user.email=founder@localhost")
    for command in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "A shop")):
        subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True)
    return folder


def run_tests(folder: Path) -> tuple[bool, str]:
    """Whether the repository's own tests pass, and what they print."""
    command = [sys.executable, "-m", "unittest"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr


def changed_files(folder: Path) -> list[str]:
    """Files that differ from what was committed, new ones included."""
    command = ["git", "status", "--porcelain", "--untracked-files=all"]
    lines = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()
    return [line[3:] for line in lines]


def found(pattern: str, text: str) -> str:
    """What a pattern's group matches in the text of a tool's result: the scripted models work from nothing else."""
    match = re.search(pattern, text, re.MULTILINE)
    assert match, f"{pattern!r} is not in what the tool returned:\n{text}"
    return match[1]
