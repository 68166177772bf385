"""The rules that language models are given: prose, one file each in `prompts/`."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).with_name("prompts")


def prompt_text(name: str, **values: object) -> str:
    """The text of that name with the values in place of their names in braces."""
    return (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").strip().format(**values)
