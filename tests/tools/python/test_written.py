"""Which files a call wrote."""

from clew.tools.python.written import file_clock, files_written


def test_a_file_that_is_written_at_once_is_never_older_than_the_call(tmp_path):
    missed = []
    for number in range(300):
        start = file_clock()
        (tmp_path / "made.txt").write_text(str(number))
        missed += [number] if files_written(tmp_path, start) != ["made.txt"] else []
    assert missed == []
