from hypothesis import given
from hypothesis import strategies as st

from clew.tools.browser.budget import GAP, estimate_tokens, fit
from clew.tools.browser.rendering import Line

lines = st.lists(
    st.builds(Line, st.text("ab 字", min_size=1, max_size=60), st.sampled_from([0, 1]), st.booleans()), max_size=40
)


@given(lines, st.integers(1, 400))
def test_what_is_kept_fits_and_keeps_its_order(lines, tokens):
    kept, lost = fit(lines, tokens)
    shown = [text for text in kept if text != GAP]
    rest = iter(line.text for line in lines)
    assert all(text in rest for text in shown)
    assert lost <= sum(line.interactive for line in lines)
    assert sum(map(estimate_tokens, shown)) <= tokens or estimate_tokens("\n".join(shown)) <= tokens


def test_everything_is_kept_where_it_fits():
    assert fit([Line("a", 0), Line("b", 1)], 100) == (["a", "b"], 0)


def test_what_shows_goes_before_the_margin_and_elements_before_text():
    lines = [Line("margin element " * 5, 1, True), Line("text " * 30, 0), Line("element " * 5, 0, True)]
    assert fit(lines, 30) == ([GAP, lines[2].text], 1)
    assert fit(lines, 70) == ([GAP, lines[1].text, lines[2].text], 1)


def test_scripts_without_blanks_count_for_more_than_latin_text():
    assert estimate_tokens("字" * 100) > 3 * estimate_tokens("a" * 100)
