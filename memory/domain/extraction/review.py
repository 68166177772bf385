"""Pass 2: walk what pass 1 left uncovered, weigh its information, and keep what carries some."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from ..types import Candidate, MemoryType, Role
from .acts import Act, act_of
from .answers import is_offer
from .chat import SECOND_PASS, ChatListener
from .clauses import trim
from .dates import resolve_dates
from .dialogue import Unit
from .drafts import Draft, dated, merged_sources, sentence
from .entities import Focus
from .fillers import says_nothing
from .information import information
from .introductions import introductions
from .labels import Label
from .names import names_in
from .patterns import label_clause
from .rewrite import third_person_text
from .syntax import strip_lead
from .tense import is_past
from .words import content_words, words_of

_THRESHOLD = 4.0
_COVERED = 0.5


def uncovered_drafts(*, units: Sequence[Unit], first_pass: Sequence[Candidate]) -> list[Draft]:
    """Memories for sentences that tell something and that no candidate of pass 1 tells.

    A sentence counts as covered when a candidate from its message holds half of its content words
    and all of its numbers and names.
    """
    focus, listener = Focus(), ChatListener(threshold=SECOND_PASS)
    told = _by_message(first_pass)
    drafts: list[Draft] = []
    for unit in units:
        if unit.role is not Role.USER:
            continue
        if unit.chat:
            drafts += listener.listen(unit if not _covered(unit, told) else _muted(unit))
            continue
        draft = _leftover(unit, focus) if unit.own and not _covered(unit, told) else None
        if draft is not None:
            drafts.append(dated(draft))
        third = third_person_text(text=trim(text=strip_lead(text=unit.text)), voice=unit.voice)
        focus.observe(
            text=third,
            source=unit.message_id,
            turn=unit.turn,
            speakers=frozenset({unit.voice.name}),
        )
    return drafts + listener.finish()


def _by_message(first_pass: Sequence[Candidate]) -> dict[UUID, list[str]]:
    told: dict[UUID, list[str]] = {}
    for candidate in first_pass:
        for source in candidate.message_ids:
            told.setdefault(source, []).append(candidate.content.lower())
    return told


def _covered(unit: Unit, told: dict[UUID, list[str]]) -> bool:
    texts = told.get(unit.message_id, [])
    joined = " ".join(texts)
    specific = [word for name in names_in(strip_lead(text=unit.text)) for word in words_of(name)]
    specific += [
        re.sub(r"(?:st|nd|rd|th)$", "", word)
        for word in words_of(unit.text)
        if word[0].isdigit() and len(word) > 2
    ]
    if unit.chat:
        specific = []
    words = content_words(unit.text)
    held = set(words_of(joined))
    share = sum(_held(word, held) for word in words) / len(words) if words else 1.0
    return share >= _COVERED and all(value in joined for value in specific)


def _held(word: str, held: set[str]) -> bool:
    return word in held or word + "s" in held or word.rstrip("s") in held


def _muted(unit: Unit) -> Unit:
    return replace(unit, own=False)


def _leftover(unit: Unit, focus: Focus) -> Draft | None:
    """A memory for one uncovered sentence, or None where it tells too little."""
    act = act_of(text=unit.text, chat=False)
    if act not in {Act.STATEMENT, Act.FRAGMENT}:
        return None
    clause = trim(text=strip_lead(text=unit.text))
    if says_nothing(text=clause) or (act is Act.FRAGMENT and is_offer(question=unit.question)):
        return None
    if introductions(clause=clause) or (act is Act.FRAGMENT and not unit.question):
        return None
    if len(content_words(clause)) < 3 and not any(word[0].isdigit() for word in words_of(clause)):
        return None
    bonus = (
        1.0
        if act is Act.FRAGMENT and unit.question and not is_offer(question=unit.question)
        else 0.0
    )
    if not clause or information(text=clause) + bonus < _THRESHOLD:
        return None
    past = is_past(text=clause)
    resolved, sources = focus.resolve(text=clause, turn=unit.turn, reach=4)
    third = third_person_text(text=resolved, voice=unit.voice, past=past)
    if act is Act.FRAGMENT and unit.question:
        asked = re.sub(r"[?!\s]+$", "", strip_lead(text=unit.question))
        third = f'Asked "{asked}", {unit.voice.name} answered: {third}'
        sources = [*sources, *([unit.question_id] if unit.question_id else [])]
    found = resolve_dates(text=third, today=unit.at.date(), past=past)
    label = label_clause(clause=clause, dates=found.dates, past=past, request=False, chat=False)
    if label.memory_type is MemoryType.SEMANTIC and label.importance == 5:
        label = Label(label.memory_type, 4, label.category, label.attribute, confidence=0.5)
    return Draft(
        sentence(found.text), label, merged_sources(unit.sources, sources), unit.turn, unit.at,
        unit.voice.name, "", found.dates, clause,
    )  # fmt: skip
