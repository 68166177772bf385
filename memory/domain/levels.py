"""Four levels of a memory's text, each shorter than the one before (seed 002, "Compression").

The rules pick whole sentences, and below one sentence its beginning: a shorter level tells less,
never something else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from memory.domain.forms import texts_of
from memory.domain.rendering import estimate_tokens
from memory.domain.text.words import split_sentences
from memory.domain.types import Asker

RULES = "rules:3"
"""The writer of the levels that the rules make, numbered by what they make."""

LONG_TOKENS = 40
"""A longer text has levels of its own, which are stored; of a shorter one rules make them."""

WHOLE_FROM = 8
"""Memories of this importance, 1-10, are told whole however old they are."""

EPISODE_LEVELS = ("summary", "compressed", "index")
"""Parts of an episode's payload that are its shorter texts (seed 002)."""

INDEX_CHARS = 50
# Forms that lose what they are for below whole sentences: reason, lesson, rule, steps.
_WHOLE = frozenset({"decision", "failure", "convention", "workflow"})
_SUMMARY_TOKENS = 60
_COMPRESSED_TOKENS = 20
_CUT = " …"
_CLAUSE = re.compile(r"(?<=[,;:])\s")


class Level(StrEnum):
    """The level of detail at which a memory's text is rendered."""

    CONTENT = "content"
    SUMMARY = "summary"
    COMPRESSED = "compressed"
    INDEX_TERM = "index_term"


ORDER = tuple(Level)


@dataclass(frozen=True, slots=True)
class Levels:
    """The shorter levels of a text; one may equal the one above it.

    Prompts tell no more than the level `told_at_most`, where they do not tell the memory whole.
    """

    summary: str
    compressed: str
    index_term: str
    told_at_most: Level = Level.CONTENT

    def at(self, level: Level, content: str) -> str:
        """The text at that level."""
        return content if level is Level.CONTENT else str(getattr(self, level.value))


@dataclass(frozen=True, slots=True)
class LongText:
    """A memory's text and payload, of which shorter versions are wanted, and who pays for them."""

    content: str
    asker: Asker
    form: str = ""
    payload: Mapping[str, Any] = field(default_factory=dict)  # Any: JSON


@dataclass(frozen=True, slots=True)
class WrittenLevels:
    """Levels, and the name of the rules or the model that wrote them."""

    levels: Levels
    writer: str


class RulesLevels:
    """The `LevelWriter` that needs no model."""

    name = RULES

    def write(self, text: LongText) -> WrittenLevels:
        return WrittenLevels(levels_of(text.content, form=text.form, payload=text.payload), RULES)


def is_long(content: str) -> bool:
    """Returns whether the text's levels are worth storing."""
    return estimate_tokens(content) > LONG_TOKENS


def levels_of(
    content: str,
    *,
    form: str = "",
    payload: Mapping[str, Any] | None = None,  # Any: JSON
) -> Levels:
    """The levels that the rules make of a memory's text and, where it has a form, its payload."""
    own, short, term = _of_payload(form, payload or {})
    summary = _shorter(content, own or _summary(content))
    if not short:
        short = summary if form in _WHOLE else _compressed(summary)
    compressed = _shorter(summary, short)
    return Levels(
        summary, compressed, _index_term(term if _is_short(term, compressed) else compressed)
    )


def checked_levels(
    levels: Levels,
    *,
    content: str,
    payload: Mapping[str, Any],  # Any: JSON
) -> str:
    """Returns the error in levels that a model wrote, or "" where they are valid.

    No level may be empty or longer than the one above it, or hold a word that neither the text
    nor the payload has.
    """
    known = _words_of("\n".join([content, *texts_of(payload)]))
    above = content
    for level in ORDER[1:]:
        text = levels.at(level, content)
        if not text.strip():
            return f"{level} is empty."
        if estimate_tokens(text) > estimate_tokens(above):
            return f"{level} is longer than the level above it."
        strange = sorted(_words_of(text) - known)
        if strange:
            return f"{level} says what the text does not: {', '.join(strange[:5])}."
        above = text
    if len(levels.index_term) > INDEX_CHARS:
        return f"index_term has more than {INDEX_CHARS} characters."
    return ""


def _words_of(text: str) -> set[str]:
    return {word.casefold() for word in re.findall(r"[^\W_]+", text)}


def _shorter(above: str, text: str) -> str:
    return text if text and estimate_tokens(text) < estimate_tokens(above) else above


def _is_short(term: str, compressed: str) -> bool:
    return bool(term) and estimate_tokens(term) <= estimate_tokens(compressed)


def _summary(content: str) -> str:
    if not is_long(content):
        return content
    room = min(_SUMMARY_TOKENS, estimate_tokens(content) // 2)
    kept: list[str] = []
    for sentence in split_sentences(content):
        if kept and estimate_tokens(" ".join([*kept, sentence])) > room:
            break
        kept.append(sentence)
    return _beginning(" ".join(kept) or content, room) + _CUT


def _compressed(summary: str) -> str:
    sentences = split_sentences(summary.removesuffix(_CUT))
    first = sentences[0] if sentences else summary
    return first if estimate_tokens(first) <= _COMPRESSED_TOKENS else _cut(first)


def _cut(text: str) -> str:
    return _beginning(text, _COMPRESSED_TOKENS - estimate_tokens(_CUT)) + _CUT


def _beginning(text: str, tokens: int) -> str:
    if estimate_tokens(text) <= tokens:
        return text
    for parts, least in ((_CLAUSE.split(text), tokens // 2), (text.split(), 1)):
        kept = ""
        for part in parts:
            longer = f"{kept} {part}".strip()
            if estimate_tokens(longer) > tokens:
                break
            kept = longer
        if estimate_tokens(kept) >= least:
            return kept.rstrip(",;: ")
    return text[: 3 * tokens]


def _index_term(text: str) -> str:
    term = text.removesuffix(_CUT).strip()
    if len(term) > INDEX_CHARS:
        term = term[: INDEX_CHARS + 1].rpartition(" ")[0] or term[:INDEX_CHARS]
    return term.rstrip(",;:. ") or term


def _of_payload(form: str, payload: Mapping[str, Any]) -> tuple[str, str, str]:  # Any: JSON
    """The summary, compressed text and index term that the payload has, "" where it has none."""
    if form == "fact" and payload:
        return "", f"{payload['key']}: {payload['value']}", str(payload["key"])
    if form == "workflow" and payload:
        return "", f"{payload['trigger']}: {'→'.join(payload['steps'])}", str(payload["trigger"])
    if form == "pattern" and payload:
        return "", str(payload.get("hint") or payload["trigger"]), str(payload["trigger"])
    if form == "episode" and payload:
        title = str(payload["title"])
        own, short, term = (str(payload.get(name) or "") for name in EPISODE_LEVELS)
        return own, short or title, term or short or title
    return "", "", ""
