import pytest

from clew.tools.web.markdown import read_html, to_markdown


def test_title_text_and_links_are_read():
    html = "<title> Tea \n shop</title><h1>Tea</h1><a href='/a'>a</a><a href='/a'>again</a><a href='mailto:x@y'>m</a>"
    document = read_html(html, "http://h/x")
    assert document.title == "Tea shop"
    assert document.text.startswith("# Tea\n")
    assert document.links == ["http://h/a"]


def test_links_count_from_the_base_that_the_page_names():
    html = "<base href='/deep/'><a href='x'>x</a>"
    assert to_markdown(html, "http://h/a") == "[x](http://h/deep/x)"


@pytest.mark.parametrize("link", ["http://[", "//[x", "http://[::1"])
def test_a_link_that_is_no_address_stays_as_it_is(link):
    assert link in to_markdown(f"<a href='{link}'>x</a>", "http://h/")


def test_a_page_that_nests_thousands_of_levels_is_read_as_plain_text():
    assert to_markdown("<div>" * 3000 + "deep" + "</div>" * 3000, "http://h/") == "deep"
