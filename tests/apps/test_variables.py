from __future__ import annotations

import re

import pytest
from source_tree import ROOT

from clew.apps.variables import unread_notice

SHOWS = "; clew.example.toml shows all settings"


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("CLEW_MODLE", "CLEW_MODEL"),
        ("clew_modle", "CLEW_MODEL"),
        ("CLEW_LIMITS_MAX_STEPS", "CLEW_LIMITS__MAX_STEPS"),
        ("CLEW_LLM_API_KEY", "CLEW_LLM__API_KEY"),
        ("CLEW_MODEL__NAME", "CLEW_MODEL"),
        ("CLEW_ENCRYPTON_KEY", "CLEW_ENCRYPTION_KEY"),
        ("CLEW_BROWSER_VIEWPORT_WIDTH", "CLEW_BROWSER__VIEWPORT__WIDTH"),
    ],
)
def test_a_variable_that_nothing_reads_is_told_with_the_nearest_one(name, nearest):
    assert unread_notice([name, "PATH", "CLEW_MODEL"]) == f"nothing reads {name} (did you mean {nearest}?){SHOWS}"


def test_several_are_told_in_one_line():
    notice = unread_notice(["CLEW_XYZZY", "CLEW_HOEM"])
    assert notice == f"nothing reads CLEW_HOEM (did you mean CLEW_HOME?), CLEW_XYZZY{SHOWS}"


def test_what_the_project_names_anywhere_is_read():
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "README.md", ROOT / "Makefile", ROOT / ".ci/run")]
    texts += [path.read_text(encoding="utf-8") for name in ("docs/*.md", "*.toml") for path in ROOT.glob(name)]
    for folder in ("apps", "checkpoints", "graphs", "models", "nodes", "state", "tools"):
        texts += [path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.py")]
    named = {name for text in texts for name in re.findall(r"\bCLEW_[A-Z_]*[A-Z]\b", text)}
    assert len(named) > 8
    assert unread_notice(named - {"CLEW_LIMITS__MAX_STEP"}) == ""


def test_tables_and_what_is_in_them_are_read():
    names = ["CLEW_LLM__SMALL__MODEL", "CLEW_SERVE__KEYS", "CLEW_CONDENSE", "CLEW_PRICES__X__INPUT", "CLEW_COMMAND"]
    assert unread_notice([*names, "CLEW", "CLEWS_MODEL"]) == ""
