"""LangGraph's own conformance kit for checkpointers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability
from palimpsest_client.langgraph import PalimpsestSaver

from tests.clients.conftest import Place


@pytest.mark.parametrize("capability", [each.value for each in Capability])
def test_the_saver_has_each_capability(place: Place, capability: str) -> None:
    key = place.key()

    @checkpointer_test(name=f"Palimpsest {capability}")
    async def saver() -> AsyncGenerator[BaseCheckpointSaver[str], None]:
        async with PalimpsestSaver(place.url, key, retries=0) as made:
            yield made

    report = asyncio.run(validate(saver, capabilities={capability}))

    result = report.results[capability]
    assert result.failures == []
    assert (result.detected, result.passed) == (True, True)
    assert result.tests_passed >= 5
