import pytest
from pdf_files import pdf

from clew.state.errors import ToolFailure
from clew.tools.web.pdf import read_pdf


def test_the_text_and_the_title_of_all_pages_are_read():
    document = read_pdf(pdf("The first page", "The second page", title="A report"), 60)
    assert document.title == "A report"
    assert document.text == "The first page\n\nThe second page"


def test_pages_that_take_too_long_are_left_out_with_a_note():
    assert read_pdf(pdf("One", "Two"), -1).text == "(the pages from 1 on were not read: they take too long)"


def test_a_file_without_text_is_a_failure():
    with pytest.raises(ToolFailure, match="only pictures"):
        read_pdf(pdf(""), 60)


@pytest.mark.parametrize("content", [b"%PDF-1.4", b"", pdf("One")[:80], b"%PDF-1.4\n" + b"\xff" * 999])
def test_a_broken_file_is_a_failure(content):
    with pytest.raises(ToolFailure, match="PDF file"):
        read_pdf(content, 60)
