from hypothesis import given
from hypothesis import strategies as st

from clew.tools.browser.markdown import pieces
from clew.tools.web.markdown import to_markdown


def test_links_and_pictures_are_absolute():
    html = "<a href='../x'>x</a> <img alt=y src='y.png'>"
    assert to_markdown(html, "http://h/a/b") == "[x](http://h/x) ![y](http://h/a/y.png)"


def test_scripts_styles_and_templates_say_nothing_but_shadow_roots_do():
    html = (
        "<head><title>t</title></head><script>1</script><style>a{}</style><template>no</template>"
        "<div><template shadowrootmode=closed><p>yes</p></template></div>"
    )
    assert to_markdown(html, "http://h/") == "yes"


def test_headings_lists_and_tables_keep_their_shape():
    html = "<h2>Prices</h2><ul><li>tea</li></ul>"
    html += "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    assert to_markdown(html, "http://h/").splitlines()[0] == "## Prices"
    assert "- tea" in to_markdown(html, "http://h/")
    assert "| 1 | 2 |" in to_markdown(html, "http://h/")


@given(st.text("ab\n ", max_size=300), st.integers(1, 50))
def test_pieces_are_short_enough_and_lose_only_line_ends(text, length):
    parts = list(pieces(text, length))
    assert all(len(part) <= length for part in parts)
    assert "".join(parts).replace("\n", "") == text.replace("\n", "")


def test_pieces_are_cut_at_paragraphs_where_there_are_any():
    assert list(pieces("one\n\ntwo\nthree\n\nfour", 12)) == ["one", "two\nthree", "four"]
