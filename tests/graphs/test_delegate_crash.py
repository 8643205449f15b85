"""Processes are killed with SIGKILL while delegates work, at any depth; the next process goes on inside them."""

from pathlib import Path

import pytest
from crash_story import check_same_end, print_figures, stories

SCRIPT = Path(__file__).with_name("crash_delegate.py")
KILLS = 8
SEEDS = [range(3), pytest.param(range(100, 160), marks=[pytest.mark.soak, pytest.mark.timeout(1800)], id="long")]
MOST_IN_FLIGHT = 3
EFFECTS = 2 + 3 + 3 + 3
"""Those of the outermost agent, of its two delegates, and of the one below the left one."""


@pytest.mark.parametrize("seeds", SEEDS)
def test_delegations_that_are_killed_again_and_again_end_like_undisturbed_ones(tmp_path, seeds):
    told = stories(SCRIPT, tmp_path, KILLS, seeds)
    undisturbed = told.pop("undisturbed")
    assert undisturbed.end["status"] == "finished"
    assert len(undisturbed.effects) == EFFECTS
    for each in told.values():
        assert len(each.lives) > 1
        check_same_end(each, undisturbed, MOST_IN_FLIGHT)
    print_figures("delegations", told.values())
