"""Pass 2: what pass 1 left uncovered, read by its place in the talk instead of its grammar.

Pass 1 needs a clause with a verb. This pass takes a fragment with the question it answers, notes
("Budget 85k") under their heading, items of a list, and whole sentences that carry much
information and fit no pattern.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from ..types import Candidate, MemoryType, Role
from .admitting.admission import Admission
from .admitting.evidence import Heard
from .admitting.information import information
from .appositions import presented
from .chat import SECOND_PASS, ChatListener
from .days.dates import resolve_dates
from .drafts import Draft, dated, merged_sources, sentence
from .fillers import is_stub, says_nothing
from .kinds.introductions import introductions
from .kinds.labels import Label
from .kinds.patterns import label_clause
from .language.leads import strip_lead
from .language.names import names_in
from .language.pronouns import leaves_open
from .language.rewrite import third_person_text
from .language.tense import is_past
from .language.trimming import trim
from .language.words import content_words, words_of
from .meant.acts import Act, act_of
from .notes import as_answer, note_items
from .requests import wishes_told
from .threads.dialogue import Unit
from .threads.entities import Focus
from .threads.objects import dangling
from .threads.topics import OnTopic, with_topic

_THRESHOLD = 4.0
_COVERED = 0.5
_SELF = re.compile(r"\b(?:i|my|me|we|our|us)\b", re.IGNORECASE)


def uncovered_drafts(
    *,
    units: Sequence[Unit],
    first_pass: Sequence[Candidate],
    admission: Admission,
    agent: str = "",
) -> list[Draft]:
    """Memories for sentences that tell something and that no candidate of pass 1 tells.

    A sentence counts as covered when a candidate from its message holds half of its content words
    and all of its numbers and names.
    """
    focus, listener = Focus(), ChatListener(threshold=SECOND_PASS)
    told = _by_message(first_pass)
    drafts: list[Draft] = []
    for unit in units:
        if unit.role is Role.ASSISTANT:
            focus.heard(
                text=unit.text,
                source=unit.message_id,
                turn=unit.turn,
                owner=unit.voice.addressee or "User",
            )
        if unit.role is not Role.USER:
            continue
        if unit.chat:
            drafts += listener.listen(unit if not _covered(unit, told) else _muted(unit))
            continue
        text, _ = focus.strip_heading(
            text=strip_lead(text=unit.text), source=unit.message_id, turn=unit.turn
        )
        if unit.own and text and not _covered(unit, told):
            drafts += [
                dated(draft) for draft in _leftover(replace(unit, text=text), focus, admission)
            ]
        third = third_person_text(text=trim(text=text), voice=unit.voice)
        focus.observe(
            text=third,
            source=unit.message_id,
            turn=unit.turn,
            speakers=frozenset({unit.voice.name, agent}),
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


def _leftover(unit: Unit, focus: Focus, admission: Admission) -> list[Draft]:
    """Memories for one uncovered sentence: as an answer, as notes, or as it stands."""
    act = act_of(text=unit.text, chat=False)
    beside = presented(text=unit.text) if act is not Act.QUOTE and act is not Act.COMMAND else []
    if beside:
        return [_draft(unit, focus, text, Act.STATEMENT) for text in beside]
    if act not in {Act.STATEMENT, Act.FRAGMENT}:
        return []
    clause = trim(text=strip_lead(text=unit.text))
    if not clause or says_nothing(text=clause) or is_stub(clause=clause):
        return []
    if introductions(clause=clause):
        return []
    if act is Act.FRAGMENT and unit.question:
        told = [as_answer(unit=unit, text=clause)]
    else:
        told = note_items(text=clause)
        if not told and act is Act.STATEMENT and _tells_much(clause):
            told = [clause]
    drafts = [_draft(unit, focus, text, act) for text in told if text]
    drafts = [each for each in drafts if not _is_open(unit, each.text)]
    weighed = [(draft, admission.weigh(_heard(unit, draft, act))) for draft in drafts]
    return [replace(draft, label=each.label) for draft, each in weighed if each.kept]


def _is_open(unit: Unit, text: str) -> bool:
    """Whether a memory would speak of somebody or something that only a pronoun names."""
    return leaves_open(text=text) or dangling(text=text, owner=unit.voice.name) is not None


def _heard(unit: Unit, draft: Draft, act: Act) -> Heard:
    """What pass 1 refused is weighed as it was there; it is not let in by another door."""
    return Heard(
        unit, draft.clause, draft.text, draft.label, draft.dates, act,
        joined=len(draft.sources) > 1 or bool(draft.about), leftover=True,
    )  # fmt: skip


def _tells_much(clause: str) -> bool:
    if len(content_words(clause)) < 3 and not any(word[0].isdigit() for word in words_of(clause)):
        return False
    return information(text=clause) >= _THRESHOLD


def _draft(unit: Unit, focus: Focus, told: str, act: Act) -> Draft:
    past = act is Act.STATEMENT and is_past(text=told)
    answered = act is Act.FRAGMENT and bool(unit.question)
    resolved, sources = focus.resolve(text=wishes_told(clause=told), turn=unit.turn, reach=4)
    third = resolved if answered else third_person_text(text=resolved, voice=unit.voice, past=past)
    named = OnTopic(third)
    if not answered and not _SELF.search(told):
        named = with_topic(text=third, topic=focus.topic, turn=unit.turn)
    found = resolve_dates(text=named.text, today=unit.at.date(), past=past, weekly=unit.weekly)
    label = label_clause(clause=told, dates=found.dates, past=past, request=False, chat=False)
    if label.memory_type is MemoryType.SEMANTIC and label.importance == 5:
        label = Label(label.memory_type, 4, label.category, label.attribute, confidence=0.5)
    asked = [unit.question_id] if answered and unit.question_id else []
    return Draft(
        sentence(found.text), label, merged_sources(unit.sources, sources, named.sources, asked),
        unit.turn, unit.at, unit.voice.name, named.about, found.dates, told,
    )  # fmt: skip
