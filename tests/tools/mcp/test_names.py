from clew.tools.mcp.names import server_parts, tool_names


def test_a_tool_is_called_after_its_server():
    assert tool_names("maze", ["look", "go.left"]) == ["maze__look", "maze__go_left"]


def test_long_names_are_cut_and_stay_different():
    names = tool_names("maze", ["x" * 70, "x" * 70 + "y", "z" * 58])
    assert [len(name) for name in names] == [64, 64, 64]
    assert len(set(names)) == 3
    assert names == tool_names("maze", ["x" * 70, "x" * 70 + "y", "z" * 58])


def test_names_that_would_be_the_same_get_a_hash():
    assert len(set(tool_names("maze", ["go.left", "go_left", "go left"]))) == 3
    assert tool_names("maze", ["look"], taken=["maze__look"]) != ["maze__look"]
    parts = server_parts(["my server", "my_server", "a" * 40, "a" * 41])
    assert len(set(parts)) == 4
    assert max(map(len, parts)) <= 24
