import pytest
from mcp_types import ToolAnnotations

from clew.tools.mcp.traits import annotated_traits


@pytest.mark.parametrize(
    ("annotations", "risk", "idempotent"),
    [
        (None, "unknown", False),
        (ToolAnnotations(read_only_hint=True), "low", True),
        (ToolAnnotations(read_only_hint=False, destructive_hint=False), "medium", False),
        (ToolAnnotations(destructive_hint=True, idempotent_hint=True), "high", True),
        (ToolAnnotations(title="Look"), "unknown", False),
    ],
)
def test_what_a_server_says_of_a_tool_is_its_risk(annotations, risk, idempotent):
    traits = annotated_traits(annotations)
    assert (traits.risk, traits.idempotent) == (risk, idempotent)


def test_a_server_that_is_not_trusted_says_nothing():
    traits = annotated_traits(ToolAnnotations(read_only_hint=True), trusted=False)
    assert (traits.risk, traits.idempotent) == ("unknown", False)
