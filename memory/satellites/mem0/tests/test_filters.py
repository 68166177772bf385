"""mem0's filter language, asked by its own client over HTTP."""

from __future__ import annotations
