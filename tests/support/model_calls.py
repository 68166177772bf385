"""Retries of the OpenAI client, as it logs them."""

from __future__ import annotations

import re

import pytest

_PAUSE = re.compile(r"Retrying request in ([0-9.]+) seconds")


def retry_pauses(log: pytest.LogCaptureFixture) -> list[float]:
    """The pauses that the client announced before its repeated requests, in seconds, in order."""
    return [float(found[1]) for found in map(_PAUSE.search, log.messages) if found]
