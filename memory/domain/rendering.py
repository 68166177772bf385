"""Memories as lines of a prompt, grouped by type (seed 000, step 6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from .tokens import estimate_tokens
from .types import MemoryType, Status

IDENTITY = "## Your Identity"
ABOUT_USER = "## About This User"
FACTS = "## What You Know (Facts)"
EVENTS = "## Recent Events"
PATTERNS = "## Learned Patterns"
TEAM = "## Team Knowledge"
SECTIONS = (IDENTITY, ABOUT_USER, FACTS, EVENTS, PATTERNS, TEAM)

_PLACE = {
    MemoryType.IDENTITY: (IDENTITY, "IDENTITY"),
    MemoryType.USER_PROFILE: (ABOUT_USER, "USER-PROFILE"),
    MemoryType.EPISODIC: (EVENTS, "EVENT"),
    MemoryType.PROCEDURAL: (PATTERNS, "PATTERN"),
    MemoryType.SHARED: (TEAM, "TEAM"),
    MemoryType.INSIGHT: (ABOUT_USER, "INSIGHT"),
    MemoryType.AGENT_PRIVATE: (FACTS, "NOTE"),
    MemoryType.SEMANTIC: (FACTS, "FACT"),
}


@dataclass(frozen=True, slots=True)
class Opposite:
    """A text that a disputed memory contradicts, and since when it stands."""

    content: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Line:
    """What a prompt shows of one memory."""

    content: str
    memory_type: MemoryType
    importance: int
    confidence: float
    at: datetime
    status: str
    category: str = ""
    subject: str = ""
    succeeded: int = 0
    failed: int = 0
    opposites: tuple[Opposite, ...] = ()

    @property
    def section(self) -> str:
        """The heading it stands under."""
        return ABOUT_USER if self._is_preference else _PLACE[self.memory_type][0]

    @property
    def _is_preference(self) -> bool:
        return self.memory_type == MemoryType.SEMANTIC and (
            self.category == "preferences" or self.subject.startswith("user.preference")
        )

    def render(self) -> str:
        """One line; the memory's text cannot open a line or section of its own."""
        label = "PREFERENCE" if self._is_preference else _PLACE[self.memory_type][1]
        if self.memory_type == MemoryType.EPISODIC:
            label += f" {self.at:%Y-%m-%d}"
        if self.status == Status.DISPUTED or self.opposites:
            label += " DISPUTED"
        return f"[{label}]: {one_line(self.content)}{self._remarks()}{self._dispute()}"

    def _remarks(self) -> str:
        if label_is_fact(self.memory_type) and not self._is_preference:
            sure = "" if self.confidence >= 1 else f", confidence: {self.confidence:.2g}"
            return f" (importance: {self.importance}{sure})"
        uses = self.succeeded + self.failed
        if self.memory_type == MemoryType.PROCEDURAL and uses:
            return f" ({round(100 * self.succeeded / uses)}% success, {uses} uses)"
        return ""

    def _dispute(self) -> str:
        if not self.opposites:
            return ""
        against = "; ".join(
            f'"{one_line(each.content)}" from {each.since:%b} {each.since.day}, {each.since.year}'
            for each in self.opposites
        )
        return f" (contradicts: {against})"


def label_is_fact(memory_type: MemoryType) -> bool:
    """Whether a line says how important and how sure it is."""
    return memory_type in (MemoryType.SEMANTIC, MemoryType.AGENT_PRIVATE)


def one_line(text: str) -> str:
    """The text without line breaks and control characters, so that it stays inside its line."""
    printable = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(printable.split())


def line_tokens(line: str) -> int:
    """The tokens of one rendered line with its line break."""
    return estimate_tokens(line + "\n")


def section_tokens(section: str) -> int:
    """The tokens that a section's heading and the blank line before it add."""
    return estimate_tokens(f"\n{section}\n")


def render(lines: Iterable[tuple[str, str]]) -> str:
    """The prompt of (section, line) pairs: sections in their order, lines in the given order."""
    grouped: dict[str, list[str]] = {}
    for section, line in lines:
        grouped.setdefault(section, []).append(line)
    return "\n\n".join(
        "\n".join([section, *grouped[section]]) for section in SECTIONS if section in grouped
    )
