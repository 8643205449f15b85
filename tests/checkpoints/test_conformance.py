"""The savers pass LangGraph's own conformance suite in full, extended capabilities included."""

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import ALL_CAPABILITIES

from clew.checkpoints.open import open_saver

POSTGRES = pytest.param("postgresql", marks=pytest.mark.needs("initdb"))


@pytest.mark.parametrize("kind", ["inline", "in a thread", "encrypted", POSTGRES])
async def test_a_saver_conforms(request, tmp_path, kind):
    url = request.getfixturevalue("postgres_url") if kind == "postgresql" else tmp_path / "clew.db"
    options = {"in a thread": {"in_thread": True}, "encrypted": {"key": "a key that only this test knows"}}

    @checkpointer_test(name=kind)
    async def saver():
        async with open_saver(url, **options.get(kind, {})) as opened:
            yield opened

    report = await validate(saver)
    assert [failure for result in report.results.values() for failure in result.failures] == []
    passed = {name for name, result in report.results.items() if result.passed}
    assert passed == {capability.value for capability in ALL_CAPABILITIES}
