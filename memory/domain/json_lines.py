"""JSON Lines that all readers split at the same places."""

from __future__ import annotations

# What some readers take for the end of a line, as JSON may write it.
_LINE_ENDS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}


def on_one_line(written: str) -> str:
    """The JSON text, which has no line feeds, without other signs that may end a line."""
    return written.translate(_LINE_ENDS)
