"""Signals in a statement: explicit change, correction, addition, past, unreal, passing stay."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ..reading.frames import Reading, kept_by_reading
from ..reading.lexicon import Mark, Table
from ..reading.tables import words
from ..reading.verbs import is_past_form
from .changeforms import FINDERS, new_holder
from .last_parts import tells_last_part
from .no_thoughts import is_no_thought
from .parted import is_modal
from .past_ends import ended_then

_PRESENT_CHANGES = words("drops replaces supersedes retires abolishes discontinues becomes removes")
_FUTURE = words("will shall going")
_AMBIGUOUS_CUTS = frozenset({"cut", "put", "set", "hit", "let", "read", "split", "left", "shut"})


@dataclass(frozen=True, slots=True)
class Signals:
    """What a statement says about its own relation to earlier facts; words are quoted.

    `change` is a strong sign of change, `weak` one that needs a conflict beside it.
    """

    correction: str = ""
    change: str = ""
    weak: str = ""
    additive: str = ""
    unreal: str = ""
    past: str = ""
    temporary: str = ""
    condition: str = ""
    kinds: frozenset[str] = frozenset()


def signals_of(reading: Reading, *, recorded_at: datetime | None = None) -> Signals:
    """The signals of a statement; a denied change is none.

    A change dated to a year before `recorded_at`, when the other statement was stored, cannot
    have replaced it.
    """
    if not _is_stale(reading, recorded_at):
        return _signals(reading)
    return Signals(
        correction=_marked(reading, Table.CORRECTION),
        past=_marked(reading, Table.PAST) or ended_then(reading),
        additive=_marked(reading, Table.ADDITIVE),
    )


def _marked(reading: Reading, table: Table) -> str:
    """The first words of a table that are not denied; what is over may be."""
    for mark in reading.of(table):
        if table is Table.PAST or mark.start not in reading.denied:
            return _quote(reading, mark)
    return ""


@kept_by_reading
def _signals(reading: Reading) -> Signals:
    found: dict[Table, str] = {}
    strong, weak = "", ""
    kinds: set[str] = set()
    for mark in reading.marks:
        if mark.table in {Table.SYNONYM, Table.AXIS, Table.CONTRAST, Table.FIELD, Table.ATTRIBUTE}:
            continue
        if mark.table is Table.CHANGE_VERB:
            if not _is_event(reading, mark):
                continue
            if mark.ids[0][1]:
                weak = weak or _quote(reading, mark)
            else:
                strong = strong or _quote(reading, mark)
                kinds.add("verb")
        elif mark.table is Table.NOW:
            if _is_now(reading, mark):
                strong = strong or _quote(reading, mark)
                kinds.add("now")
        elif mark.table is Table.UNREAL and is_no_thought(reading, mark):
            continue
        elif not (mark.start in reading.denied and mark.table is not Table.PAST):
            found.setdefault(mark.table, _quote(reading, mark))
    new = new_holder(reading)
    if new:
        kinds.add("new")
    for kind, find in FINDERS:
        quote = find(reading)
        if quote:
            kinds.add(kind)
            strong = strong or quote
    return Signals(
        correction=found.get(Table.CORRECTION, "") or _contrastive(reading),
        change=strong,
        weak=weak or new,
        additive=found.get(Table.ADDITIVE, "") or _second(reading),
        unreal=found.get(Table.UNREAL, ""),
        past=found.get(Table.PAST, "") or ended_then(reading),
        temporary=found.get(Table.TEMPORARY, ""),
        condition=_condition(reading),
        kinds=frozenset(kinds),
    )


@kept_by_reading
def is_past_event(reading: Reading) -> bool:
    """Whether the main verb tells something that happened, not a state that holds."""
    verb = reading.verb
    if verb in {"was", "were", "has", "have", "had", "did"}:
        after = [t.lower for t in reading.tokens[reading.head + 1 : reading.head + 5]]
        return any(is_past_form(word) for word in after)
    return is_past_form(verb)


def _is_stale(reading: Reading, recorded_at: datetime | None) -> bool:
    years = [q.parts[0] for q in reading.quantities if q.kind == "date" and q.parts[0]]
    return bool(years) and recorded_at is not None and max(years) < recorded_at.year


def _quote(reading: Reading, mark: Mark) -> str:
    return " ".join(token.text for token in reading.tokens[mark.start : mark.end])


_NAMING = frozenset({"named", "called"})


def _is_event(reading: Reading, mark: Mark) -> bool:
    """Whether a verb of change is told as having happened or as decided."""
    token = reading.tokens[mark.start]
    if mark.start in reading.denied or is_modal(reading.tokens, mark.start):
        return False
    if tells_last_part(reading, mark.start):
        return False
    before = [t.lower for t in reading.tokens[max(0, mark.start - 3) : mark.start]]
    lower = token.lower
    if before[-2:] == ["had", "to"]:
        return True
    if before and before[-1] in {
        "the",
        "a",
        "an",
        "his",
        "her",
        "their",
        "its",
        "of",
        "to",
        "for",
        "with",
        "at",
        "in",
    }:
        return False
    if lower in _NAMING and mark.start != reading.verb_at:
        # "Has a dog named Rollo".
        return False
    if mark.end < len(reading.tokens) and reading.tokens[mark.end].lower == ":":
        return False
    if lower in _AMBIGUOUS_CUTS:
        if lower == "left":
            return False
        return mark.end - mark.start > 1 or not before or before[-1] not in {"is", "are", "to"}
    if lower.endswith("ed") and len(lower) > 3:
        # "is closed", "are limited" tell a state; "was closed", "has been closed" an event.
        return not before or before[-1] not in {"is", "are", "be"}
    if lower in _PRESENT_CHANGES:
        return True
    if is_past_form(lower):
        return not before or before[-1] not in {"is", "are", "be"}
    if any(word in _FUTURE for word in before[-2:]):
        return True
    return lower.endswith("ing") and bool(before) and before[-1] in {"being", "stopped"}


def _is_now(reading: Reading, mark: Mark) -> bool:
    first = reading.tokens[mark.start].lower
    if first in {"again", "back", "already", "finally", "starting", "effective", "instead"}:
        return mark.start not in reading.denied
    if first == "instead" and mark.end < len(reading.tokens):
        return reading.tokens[mark.end].lower != "of"
    return True


def _contrastive(reading: Reading) -> str:
    """ "X, not Y" after a value, which sets a wrong value right."""
    tokens = reading.tokens
    for i in range(2, len(tokens) - 1):
        if tokens[i].lower in {"not", "never"} and tokens[i - 1].lower in {",", "and", "-", "("}:
            if tokens[i].lower == "never" and tokens[i - 1].lower == "and":
                # "Keeps on going and never quits" sets nothing right.
                continue
            after = tokens[i + 1].lower
            if after not in {"only", "just", "to", "when", "if", "be", "been", "yet", "even"}:
                return "not " + tokens[i + 1].text
    return ""


def _second(reading: Reading) -> str:
    for quantity in reading.quantities:
        if quantity.kind == "ordinal" and quantity.value == 2 and quantity.head:
            before = reading.tokens[quantity.start - 1].lower if quantity.start else ""
            if before in {"a", "his", "her", "their"}:
                return quantity.text + " " + quantity.head
    return ""


_CONDITIONS = words("when if unless whenever except provided")


def _condition(reading: Reading) -> str:
    """A clause or an opening phrase that narrows the statement to some occasions."""
    tokens = reading.tokens
    if tokens and tokens[0].lower in {
        "for",
        "in",
        "on",
        "at",
        "during",
        "when",
        "if",
        "while",
        "with",
        "under",
    }:
        for token in tokens[1:8]:
            if token.lower == ",":
                break
        if not any(q.start <= 3 and q.kind in {"date", "weekday"} for q in reading.quantities):
            return tokens[0].text
    for token in tokens[1:]:
        if token.lower in _CONDITIONS:
            return token.text
    return ""
