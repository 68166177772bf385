"""Memories in dispute, ready made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memory.models import Memory
from memory.understanding.tools import Tools
from tests.support.cast import Cast
from tests.support.disputes import THREE, Quarrel, stored
from tests.support.embedders import OrthogonalEmbedder


@pytest.fixture
def plain(tools: Tools) -> Tools:
    """Tools under which all memories of one subject dispute each other."""
    return replace(tools, embedder=OrthogonalEmbedder(), judge=Quarrel())


@pytest.fixture
def sides(acme: Cast, plain: Tools) -> list[Memory]:
    """Two memories in dispute, the first one said first."""
    return stored(acme, plain, *THREE[:2])


@pytest.fixture
def three(acme: Cast, plain: Tools) -> list[Memory]:
    """Three memories, each in dispute with both others."""
    return stored(acme, plain, *THREE)
