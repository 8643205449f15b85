"""Processes are killed with SIGKILL while the hub works; the next one goes on in the middle of a turn."""

from pathlib import Path

import pytest
from crash_story import check_same_end, print_figures, stories

SCRIPT = Path(__file__).with_name("crash_hub.py")
KILLS = 8
SEEDS = [range(2), pytest.param(range(100, 140), marks=[pytest.mark.soak, pytest.mark.timeout(1800)], id="long")]
EFFECTS = 3 + 2 * 3 + 2 * 3
"""Those of the study, and of two rounds of coding and verifying."""


@pytest.mark.parametrize("seeds", SEEDS)
def test_hub_runs_that_are_killed_again_and_again_end_like_an_undisturbed_one(tmp_path, seeds):
    told = stories(SCRIPT, tmp_path, KILLS, seeds)
    undisturbed = told.pop("undisturbed")
    assert undisturbed.end["status"] == "finished"
    assert len(undisturbed.effects) == EFFECTS
    for each in told.values():
        assert len(each.lives) > 1
        check_same_end(each, undisturbed, most_in_flight=1)
    print_figures("hub", told.values())
