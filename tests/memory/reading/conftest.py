"""Both ways to find what a small owner's questions are answered from."""

from __future__ import annotations

import pytest
from pytest_django import Settings


@pytest.fixture(params=["all are read", "searched"])
def either_way(request: pytest.FixtureRequest, settings: Settings) -> None:
    """All memories of a small owner are candidates, or those that the signals propose."""
    if request.param == "searched":
        settings.READ_WHOLE_UP_TO = 0
