"""What a web process loads before anybody speaks MCP."""

from __future__ import annotations

import subprocess
import sys

_ADDRESSES = """
import sys
import django
django.setup()
from django.urls import resolve
resolve("/mcp")
print("mcp" in sys.modules)
"""


def test_the_sdk_is_loaded_by_the_first_message_and_not_at_the_start() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ADDRESSES], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["False"]
