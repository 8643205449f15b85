"""An agent's processes are killed with SIGKILL at any moment; the next one goes on, and nothing is done twice."""

import time
from collections import Counter
from pathlib import Path

import pytest
from crash_story import check_same_end, print_figures, start, stories, story

SCRIPT = Path(__file__).with_name("crash_agent.py")
ONCE = Path(__file__).with_name("crash_effects.py")
KILLS = 8
SEEDS = [range(4), pytest.param(range(100, 200), marks=[pytest.mark.soak, pytest.mark.timeout(1800)], id="long")]
MOST_IN_FLIGHT = 3


@pytest.mark.parametrize("seeds", SEEDS)
def test_runs_that_are_killed_again_and_again_end_like_an_undisturbed_one(tmp_path, seeds):
    told = stories(SCRIPT, tmp_path, KILLS, seeds)
    undisturbed = told.pop("undisturbed")
    assert undisturbed.end["status"] == "finished"
    assert len(undisturbed.effects) == len({name for _, name in undisturbed.effects}) == 21
    for each in told.values():
        assert len(each.lives) > 1
        check_same_end(each, undisturbed, MOST_IN_FLIGHT)
    print_figures("idempotent calls", told.values())


@pytest.mark.parametrize("seeds", SEEDS)
def test_a_call_that_is_not_idempotent_has_its_effect_once_and_one_that_was_cut_off_says_so(tmp_path, seeds):
    told = stories(ONCE, tmp_path, KILLS, seeds)
    assert cut_off(told.pop("undisturbed")) == set()
    for each in told.values():
        effects = Counter(name for _, name in each.effects)
        assert each.end["status"] == "finished"
        assert max(effects.values()) == 1
        assert set(effects) | cut_off(each) == asked_for(each)
    print_figures("calls with effects", told.values())


def asked_for(told):
    return {call[2]["name"] for _, _, calls, _ in told.end["messages"] for call in calls if "name" in call[2]}


def cut_off(told):
    """Names of the calls whose result says that they were cut off."""
    names = {call[0]: call[2].get("name") for _, _, calls, _ in told.end["messages"] for call in calls}
    return {names[answers] for _, text, _, answers in told.end["messages"] if "may have taken effect" in text}


FRESH = [1, pytest.param(20, marks=[pytest.mark.soak, pytest.mark.timeout(1800)], id="long")]


@pytest.mark.parametrize("times", FRESH)
def test_processes_that_share_nothing_but_the_file_go_on_too(tmp_path, times):
    for number in range(times):
        run_fresh(tmp_path / str(number))
    print(f"fresh processes: {times} kills, every run went on")


def run_fresh(tmp_path):
    tmp_path.mkdir()
    first, effects = start(SCRIPT, tmp_path, "alone"), tmp_path / "effects"
    while first.poll() is None and not (effects.exists() and len(effects.read_text().splitlines()) >= 5):
        time.sleep(0.002)
    first.kill()
    assert first.wait() == -9
    assert start(SCRIPT, tmp_path, "alone").wait() == 0
    told = story(tmp_path)
    assert len(told.lives) == 2
    check_same_end(told, stories(SCRIPT, tmp_path / "other", 0, [])["undisturbed"], MOST_IN_FLIGHT)
