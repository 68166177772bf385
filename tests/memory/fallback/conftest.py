"""The model-free judge as the product builds it."""

from __future__ import annotations

import pytest

from memory.clients.tools import fallback_judge
from memory.domain.ports import Judge


@pytest.fixture(scope="session")
def judge() -> Judge:
    return fallback_judge()
