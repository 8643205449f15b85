from langchain_core.tools import StructuredTool

from clew.tools.traits import Traits, traits_of


def foreign(metadata=None):
    return StructuredTool.from_function(lambda: "", name="foreign", description="A tool.", metadata=metadata)


def test_a_tool_that_says_nothing_is_parallel_not_idempotent_and_of_unknown_risk():
    assert traits_of(foreign()) == Traits(parallel=True, idempotent=False, risk="unknown")


def test_traits_are_read_back_as_they_were_written():
    traits = Traits(parallel=False, idempotent=True, risk="high")
    assert traits_of(foreign(traits.metadata())) == traits


def test_malformed_metadata_falls_back_to_the_safe_side():
    assert traits_of(foreign({"parallel": "no", "idempotent": "yes", "risk": "none"})) == Traits()
