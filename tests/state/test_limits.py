import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.state.limits import KINDS, Budget, give_leases, split, split_budget
from clew.state.outcome import Usage

caps_lists = st.lists(st.none() | st.integers(1, 50), max_size=10)
budgets = st.builds(
    Budget,
    steps=st.none() | st.integers(1, 50),
    tokens=st.none() | st.integers(1, 10_000),
    cost=st.none() | st.floats(0.001, 10),
)


def test_shares_are_even_and_the_first_gets_the_odd_one():
    assert split(10, [None, None, None]) == [4, 3, 3]


def test_what_a_small_cap_leaves_over_goes_to_the_others():
    assert split(30, [5, 20, 20]) == [5, 13, 12]
    assert split(100, [5, 20, 20]) == [5, 20, 20]


def test_without_a_bound_everybody_gets_the_own_cap():
    assert split(None, [5, None]) == [5, None]


def test_fewer_are_dispatched_when_there_is_less_than_one_step_for_each():
    assert split(2, [10, 10, 10]) == [1, 1]
    assert split(0, [10]) == []
    assert split_budget(Budget(steps=2), [Budget(steps=10)] * 3) == [Budget(steps=1), Budget(steps=1)]


@pytest.mark.parametrize("spent", [Budget(steps=0), Budget(tokens=0), Budget(cost=0.0)])
def test_nobody_is_dispatched_when_a_part_of_the_budget_is_spent(spent):
    assert spent.is_spent()
    assert split_budget(spent, [Budget()]) == []


@given(st.integers(0, 200), caps_lists)
def test_shares_sum_to_the_remainder_or_to_the_caps_and_none_is_empty_or_over_its_cap(remaining, caps):
    shares = split(remaining, caps)
    assert len(shares) == min(remaining, len(caps))
    pairs = list(zip(shares, caps[: len(shares)], strict=True))
    assert all(1 <= share <= (math.inf if cap is None else cap) for share, cap in pairs)
    assert sum(shares) == (min(remaining, sum(math.inf if cap is None else cap for _, cap in pairs)) if pairs else 0)


@given(st.integers(1, 200), caps_lists)
def test_two_candidates_differ_by_more_than_one_only_where_a_cap_binds(remaining, caps):
    shares = split(remaining, caps)
    free = [share for share, cap in zip(shares, caps, strict=False) if share != cap]
    assert not free or max(shares) - min(free) <= 1


@given(budgets, st.lists(budgets, max_size=8))
def test_every_kind_of_budget_is_kept_and_comes_back_at_the_join(remaining, caps):
    shares = split_budget(remaining, caps)
    assert len(shares) <= len(caps)
    assert not any(share.is_spent() for share in shares)
    for kind in ("steps", "tokens", "cost"):
        given_out, bound = [getattr(share, kind) for share in shares], getattr(remaining, kind)
        if bound is not None:
            assert sum(given_out) <= bound * (1 + 1e-9)
        for share, cap in zip(given_out, caps, strict=False):
            assert getattr(cap, kind) is None or share <= getattr(cap, kind)
    used = [min(share.steps or 0, 1) for share in shares]
    left = remaining.after(sum(used))
    assert left.steps is None or left.steps == remaining.steps - sum(used)


def test_a_budget_shrinks_by_what_was_used_and_never_below_nothing():
    usage = Usage(input_tokens=70, output_tokens=50, cost=0.25)
    assert Budget(steps=9, tokens=1000, cost=1.0).after(4, usage) == Budget(steps=5, tokens=880, cost=0.75)
    assert Budget(steps=3, tokens=100, cost=0.1).after(4, usage) == Budget(steps=0, tokens=0, cost=0.0)
    assert Budget().after(4, usage) == Budget()


LIMIT = Budget(steps=20, calls=20, tokens=1000, cost=1.0, seconds=60.0)


def test_every_kind_of_limit_is_counted_and_the_first_that_is_used_up_is_named():
    usage = Usage(llm_calls=3, input_tokens=40, output_tokens=10, cost=0.5)
    left = LIMIT.after(2, usage, seconds=59.0)
    assert left == Budget(steps=18, calls=17, tokens=950, cost=0.5, seconds=1.0)
    assert left.spent_kind() is None
    assert LIMIT.after(2, usage, seconds=61.0).spent_kind() == "seconds"
    assert LIMIT.after(20, Usage(llm_calls=20)).spent_kind() == "steps"


def test_time_is_not_divided_for_it_passes_for_all_at_once():
    shares = split_budget(Budget(seconds=60.0), [Budget(), Budget(seconds=10.0)])
    assert [share.seconds for share in shares] == [60.0, 10.0]


def test_of_a_raise_each_child_gets_an_even_part():
    first, second = give_leases(Budget(steps=10, cost=1.0), LIMIT, [Budget(), Budget()])
    assert first.budget(LIMIT) == first.share
    raised = LIMIT.raised({"steps": 25, "cost": 2.0})
    assert [lease.budget(raised).steps for lease in (first, second)] == [7, 7]
    assert [lease.budget(raised).cost for lease in (first, second)] == [1.0, 1.0]
    assert first.budget(LIMIT.raised({"steps": 3})) == first.share


everything = st.builds(
    Budget,
    steps=st.none() | st.integers(1, 50),
    calls=st.none() | st.integers(1, 50),
    tokens=st.none() | st.integers(1, 10_000),
    cost=st.none() | st.floats(0.001, 10),
    seconds=st.none() | st.floats(0.1, 100),
)


@given(everything, st.lists(everything, max_size=6), st.integers(0, 100), st.floats(0, 10))
def test_children_that_use_all_of_their_leases_never_use_more_than_there_is_even_after_a_raise(
    limit, caps, more_steps, more_cost
):
    leases = give_leases(limit, limit, caps)
    raised = limit.raised({"steps": (limit.steps or 0) + more_steps, "cost": (limit.cost or 0.0) + more_cost})
    for now in (limit, raised):
        budgets = [lease.budget(now) for lease in leases]
        for kind in ("steps", "calls", "tokens", "cost"):
            bound = getattr(now, kind)
            assert bound is None or sum(getattr(each, kind) for each in budgets) <= bound * (1 + 1e-9)
        assert all(each.seconds is None or now.seconds is None or each.seconds <= now.seconds for each in budgets)


@given(everything, everything)
def test_the_tighter_bound_of_each_kind_holds(one, other):
    both = one.within(other)
    for kind in KINDS:
        bounds = [bound for bound in (getattr(one, kind), getattr(other, kind)) if bound is not None]
        assert getattr(both, kind) == min(bounds, default=None)
        assert getattr(one.over(other), kind) == (bounds[0] if bounds else None)
