"""Leaves out the standard chat-model tests that cannot apply to models that call no provider."""

from __future__ import annotations

import pytest

NOT_APPLICABLE = {
    "test_init_from_env": "the models read no environment variables",
    "test_serdes": "the models do not offer LangChain's own serialisation",
    "test_json_mode": "the models have no JSON mode beside tool calls",
    "test_anthropic_inputs": "fetches a picture from the network",
    "test_audio_inputs": "fetches a sound from the network",
    "test_image_inputs": "fetches a picture from the network",
    "test_image_tool_message": "fetches a picture from the network",
    "test_pdf_inputs": "fetches a document from the network",
    "test_pdf_tool_message": "fetches a document from the network",
    "test_stream_time": "needs recorded HTTP, of which there is none",
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    dropped = [item for item in items if getattr(item, "originalname", "") in NOT_APPLICABLE]
    if dropped:
        items[:] = [item for item in items if item not in dropped]
        config.hook.pytest_deselected(items=dropped)
