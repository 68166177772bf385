"""Rendering of memories and messages as lines that cannot pose as another."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from memory.domain.forms import Form
from memory.domain.types import MemoryType, Scope, Source, Status

_JOINERS = "\u200c\u200d"
# Tags and variation selectors that show as nothing and can carry a hidden text byte by byte.
_HIDDEN = re.compile("[\U000e0000-\U000e0fff]")

# What a prompt of ours, or a common chat template, calls its own lines.
_LABELS = (
    "identity|user-profile|preference|fact|note|event|pattern|team|insight|summary"
    "|decision|failure|convention|workflow|commit|inst|sys|system|assistant|user|tool"
)
_STRUCTURE = re.compile(
    r"<(?=[A-Za-z/!?|<])"  # tags, comments, the tokens of chat templates
    r"|(?<!\S)\#{1,6}(?=\s|$)"  # headings
    r"|`{3,}|~{3,}"  # fences
    r"|═{3,}"  # the rule that frames read-only memory (seed 001)
    rf"|\[(?=\s*/?\s*(?:{_LABELS})(?:\s+\d{{4}}-\d\d-\d\d)?(?:\s+disputed)?\s*\])"  # our labels
    r"|\[(?=\s*said\s+\d{4}-\d\d-\d\d\s+by\b)"  # and who said what
    r"|\[(?=[^\[\]]{1,60}\]\s*:)"  # whatever looks like one
    r"|\((?=\s*(?:importance|contradicts|confidence)\s*:|\s*\d+%\s+success)",  # our remarks
    re.IGNORECASE,
)
# One of these is in every structure; most texts have none and are done.
_SPECIAL = re.compile(r"[<#`~═\[(]")
_ENTITY = re.compile(r"&(?=\#|[A-Za-z])")


def plain_line(text: str) -> str:
    """The text on one line, without control, bidirectional and invisible characters."""
    line = " ".join(text.split())
    if line.isprintable() and not _HIDDEN.search(line):
        return line
    # Slow, so only where more than line breaks and tabs is to go.
    return " ".join("".join(_readable(line, place) for place in range(len(line))).split())


def beginning(text: str, *, longest: int) -> str:
    """The plain line, or of a longer one some `longest` characters with an ellipsis behind."""
    line = plain_line(text)
    if len(line) <= longest:
        return line
    head = line[:longest]
    # Not within a word, unless that would leave next to nothing.
    space = head.rfind(" ")
    return f"{head[: space if space >= longest // 2 else longest].rstrip()} …"


def plain_block(text: str) -> str:
    """The lines of a trusted author: line breaks stay, control characters go."""
    return "\n".join(plain_line(line) for line in text.splitlines()).strip()


def escaped_line(text: str) -> str:
    """The text on one line in which nothing is a heading, label, tag, fence or rule."""
    line = plain_line(text)
    if "&" in line and html.unescape(line) != line:
        line = _ENTITY.sub("&amp;", line)
    return _STRUCTURE.sub(_as_entities, line) if _SPECIAL.search(line) else line


def quoted(text: str) -> str:
    """The escaped line between quotation marks that it cannot close."""
    return '"' + escaped_line(text).replace('"', "&quot;") + '"'


def quotation(text: str) -> str:
    """The escaped line between curly quotation marks that it cannot close."""
    return "“" + escaped_line(text).replace("“", "&#8220;").replace("”", "&#8221;") + "”"


def _readable(text: str, place: int) -> str:
    char = text[place]
    if char in _JOINERS:
        # Emoji families and Persian words need them; after ASCII they could only hide something.
        before = text[place - 1 : place]
        is_joined = before.isprintable() and not before.isascii() and not _HIDDEN.match(before)
        return char if is_joined else ""
    if _HIDDEN.match(char) or char in "\u00ad\ufeff":
        return ""
    if char.isprintable():
        return char
    is_format = "\u200b" <= char <= "\u206f" and char not in "\u2028\u2029"
    return "" if is_format else " "


def _as_entities(found: re.Match[str]) -> str:
    return "".join("&lt;" if char == "<" else f"&#{ord(char)};" for char in found[0])


IDENTITY = "## Your Identity"
ABOUT_USER = "## About This User"
FACTS = "## What You Know (Facts)"
EVENTS = "## Recent Events"
PATTERNS = "## Learned Patterns"
TEAM = "## Team Knowledge"
HEADINGS = (IDENTITY, ABOUT_USER, FACTS, EVENTS, PATTERNS, TEAM)
# Below it stand messages, which are no memories.
SAID_HEADING = "## What Was Said"
SAID_LABEL = "SAID"
# Behind the speaker of what was told in confidence.
PRIVATE_MARK = ", in confidence"

IDENTITY_LABEL = "IDENTITY"
EVENT_LABEL = "EVENT"
PATTERN_LABEL = "PATTERN"

_PLACE = {
    MemoryType.IDENTITY: (IDENTITY, IDENTITY_LABEL),
    MemoryType.USER_PROFILE: (ABOUT_USER, "USER-PROFILE"),
    MemoryType.EPISODIC: (EVENTS, EVENT_LABEL),
    MemoryType.PROCEDURAL: (PATTERNS, PATTERN_LABEL),
    MemoryType.SHARED: (TEAM, "TEAM"),
    MemoryType.INSIGHT: (ABOUT_USER, "INSIGHT"),
    MemoryType.AGENT_PRIVATE: (FACTS, "PRIVATE"),
    MemoryType.SEMANTIC: (FACTS, "FACT"),
}
_PREFERENCE = "PREFERENCE"
COMMIT_LABEL = "COMMIT"
# The category of an episode that tells of a commit.
COMMIT_CATEGORY = "commit"
_FORM_LABELS: Mapping[str, str] = {
    form.value: form.upper()
    for form in (Form.DECISION, Form.FAILURE, Form.CONVENTION, Form.WORKFLOW)
}
# Every word that a line can be labelled with, and those after which a day stands.
LABELS = (
    *dict.fromkeys(label for _, label in _PLACE.values()),
    *_FORM_LABELS.values(),
    _PREFERENCE,
    COMMIT_LABEL,
    SAID_LABEL,
)
DATED_LABELS = (EVENT_LABEL, SAID_LABEL)
# A note of thirty near alike ones would fill a prompt with what it is at odds with.
MOST_QUOTED = 3
# Nor with the whole of each: that stands in a line of its own.
MOST_QUOTED_CHARS = 120
MOST_NAME_CHARS = 40
# Stands for a speaker whose name is not known.
SOMEBODY = "Someone of the team"
_RATED = (MemoryType.SEMANTIC, MemoryType.AGENT_PRIVATE)


@dataclass(frozen=True, slots=True)
class Quote:
    """The speaker and time of a memory's sentence, and the resolved time that the sentence names.

    The times are aware, on the clock of the team: their days are printed.
    """

    speaker: str
    said_at: datetime
    valid_from: datetime | None = None
    valid_to: datetime | None = None

    @property
    def day(self) -> str:
        """The day on which it was said."""
        return f"{self.said_at:%Y-%m-%d}"

    def render(self, text: str) -> str:
        """The sentence with speaker and day; neither name nor text can open or close anything."""
        return f"{shown_name(self.speaker) or SOMEBODY}, {self.day}: {quotation(text)}{self._time}"

    @property
    def _time(self) -> str:
        # The end is the first moment after it.
        end = self.valid_to and self.valid_to - timedelta(microseconds=1)
        first, last = (each and f"{each:%Y-%m-%d}" for each in (self.valid_from, end))
        if first and last and first != last:
            return f" [{first} to {last}]"
        if first:
            return f" [{first}]"
        return f" [until {last}]" if last else ""


@dataclass(frozen=True, slots=True)
class Opposite:
    """A text that a disputed memory contradicts, and since when it stands."""

    content: str
    since: datetime
    quote: Quote | None = None

    def render(self) -> str:
        """The beginning of the text with its day, and with its speaker where it is a quote."""
        text = beginning(self.content, longest=MOST_QUOTED_CHARS)
        if self.quote is not None:
            return self.quote.render(text)
        return f"{quoted(text)} from {self.since:%b} {self.since.day}, {self.since.year}"


def shown_name(name: str) -> str:
    """A name on one line of at most 40 characters that can neither close nor open a label."""
    shown = escaped_line(plain_line(name)[:MOST_NAME_CHARS])
    for mark in "[]“”":
        shown = shown.replace(mark, f"&#{ord(mark)};")
    return shown


_UNCONFIRMED: Mapping[str, str] = {
    Source.TOOL.value: " UNCONFIRMED from a tool",
    Source.WEB.value: " UNCONFIRMED from a web page",
}


def mark_of(status: str, *, is_disputed: bool = False, source: str = "") -> str:
    """Returns the marks after the label of a memory, each with a leading space, or ""."""
    mark = _UNCONFIRMED.get(source, "")
    if status in (Status.SUPERSEDED, Status.ARCHIVED):
        return f" {status.upper()}{mark}"
    is_disputed = is_disputed or status == Status.DISPUTED
    return f" {Status.DISPUTED.upper()}{mark}" if is_disputed else mark


@dataclass(frozen=True, slots=True)
class Line:
    """The content of one memory in a prompt, and the facts that decide its place.

    `happened_at` is the event's own time, where one is known; `at` is that or else when it was
    said, and decides the order of events. `quote` says whose sentence the content is, None where
    nobody said it in these words.
    """

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
    is_pinned: bool = False
    scope: Scope | None = None
    happened_at: datetime | None = None
    quote: Quote | None = None
    form: str = ""
    source: str = ""

    @property
    def heading(self) -> str:
        return ABOUT_USER if self.is_preference else _PLACE[self.memory_type][0]

    @property
    def is_preference(self) -> bool:
        """Returns whether the memory is a preference, shown with the facts about the user."""
        return self.memory_type == MemoryType.SEMANTIC and (
            self.category == "preferences" or self.subject.startswith("user.preference")
        )

    @property
    def is_disputed(self) -> bool:
        return self.status == Status.DISPUTED or bool(self.opposites)

    @property
    def label(self) -> str:
        """The form or type of the memory, of an event with its day where that is known."""
        if self.form in _FORM_LABELS:
            return _FORM_LABELS[self.form]
        label = _PREFERENCE if self.is_preference else _PLACE[self.memory_type][1]
        if self.memory_type == MemoryType.EPISODIC and self.category == COMMIT_CATEGORY:
            label = COMMIT_LABEL
        if self.memory_type == MemoryType.EPISODIC and self.happened_at is not None:
            label += f" {self.happened_at:%Y-%m-%d}"
        return label

    def render(self) -> str:
        """One line; the memory's text cannot open a line, label or section of its own."""
        mark = mark_of(self.status, is_disputed=self.is_disputed, source=self.source)
        text = self.quote.render(self.content) if self.quote else escaped_line(self.content)
        return f"[{self.label}{mark}]: {text}{self._remarks()}{self._dispute()}"

    def _remarks(self) -> str:
        if self.memory_type in _RATED and not self.is_preference and self.form not in _FORM_LABELS:
            sure = "" if self.confidence >= 1 else f", confidence: {self.confidence:.2g}"
            return f" (importance: {self.importance}{sure})"
        uses = self.succeeded + self.failed
        if self.memory_type == MemoryType.PROCEDURAL and uses:
            return f" ({round(100 * self.succeeded / uses)}% success, {uses} uses)"
        return ""

    def _dispute(self) -> str:
        if not self.opposites:
            return ""
        latest = sorted(self.opposites, key=lambda each: each.since, reverse=True)
        against = "; ".join(each.render() for each in latest[:MOST_QUOTED])
        more = len(latest) - MOST_QUOTED
        return f" (contradicts: {against}{f'; and {more} more' if more > 0 else ''})"


@dataclass(frozen=True, slots=True)
class SaidLine:
    """A line of a prompt that quotes a message; `text` is an excerpt."""

    text: str
    speaker: str
    said_at: datetime
    is_private: bool = False

    def render(self) -> str:
        """One line with its day and speaker; neither name nor text can open anything."""
        name = shown_name(self.speaker) + (PRIVATE_MARK if self.is_private else "")
        return f"[{SAID_LABEL} {self.said_at:%Y-%m-%d} by {name}]: {escaped_line(self.text)}"


# Seed 000, step 5.
CHARACTERS_A_TOKEN = 3.5


def estimate_tokens(text: str) -> int:
    """An upper-leaning estimate: characters / 3.5, rounded up (seed 000, step 5)."""
    # In whole numbers, as it is asked of each of hundreds of lines.
    return (2 * len(text) + 6) // 7


class TokenCounter(Protocol):
    """Says how many tokens a model reads; `name` tells an answer's reader how it was counted."""

    @property
    def name(self) -> str:
        """`estimate`, or the tokenizer's name."""

    def count(self, text: str) -> int:
        """The tokens of the text, 0 for an empty one."""


class Estimate:
    """The `TokenCounter` that stands for every model."""

    name = "estimate"

    def count(self, text: str) -> int:
        return estimate_tokens(text)


ESTIMATE = Estimate()


# What some readers take for the end of a line, as JSON may write it.
_LINE_ENDS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}


def on_one_line(written: str) -> str:
    """The JSON text, which has no line feeds, without other signs that may end a line."""
    return written.translate(_LINE_ENDS)
