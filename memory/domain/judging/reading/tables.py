"""Reads the word tables that lie beside the code, one entry a line, `#` for comments."""

from __future__ import annotations

from importlib.resources import files


def table_lines(name: str) -> list[str]:
    """The lines of table `name`, without comments and blank lines."""
    text = files(__package__).joinpath("wordlists", name + ".txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def words(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())
