"""Which clause of an earlier statement a later one says nothing of: "lives in Lille and works for
Renault", "works for Citroen now"."""

from __future__ import annotations

from collections.abc import Sequence

from ...extraction.language.verbs import AMBIGUOUS, BASES, THIRD
from ..reading.frames import Reading, kept_by_reading
from ..reading.lexicon import Table
from ..reading.tables import words
from ..reading.verbal import AUXILIARIES, looks_verbal
from ..reading.verbs import is_past_form
from .change_words import FILLERS, MOVING, turning
from .evidence import Evidence
from .turns import STAYING

_JOINING = words("and but while whereas ; .")
_RELATIVE = words("who whom whose which that to where when if because")
_BEHIND_VERB = words(
    "a an the his her its their our my your this that these it them him us me at in on for from "
    "with to by as into about over under near without up out off no not every all both two three"
)
_LEANING = words("it there them")
_PLACED = words("for in on at with")
_MOST_WORDS = 3


def untold_clause(ev: Evidence) -> str:
    """The words of a clause of the existing statement that the new one does not speak of, or "".

    What replaces or ends one fact of two retires both, where they were told in one statement.
    """
    spans = clauses_of(ev.existing)
    if len(spans) < 2:
        return ""
    told = _told_of(ev)
    for span in spans:
        said = _content(ev.existing, span)
        is_told = not told.isdisjoint(said) or _is_of_its_verb(ev, span)
        if (
            said
            and not is_told
            and not _leans(ev.existing, span)
            and not _is_left_by_move(ev, span)
        ):
            return _quoted(ev.existing, span)
    return ""


def _is_of_its_verb(ev: Evidence, span: range) -> bool:
    """ "Works at Siemens and likes it there", "works at Bosch now"."""
    e, n = ev.existing, ev.new
    return e.verb_at in span and e.tokens[e.verb_at].stem == n.tokens[n.verb_at].stem


def _leans(reading: Reading, span: range) -> bool:
    """Whether a clause says something of the one before alone: "and she loves it there"."""
    behind = span.start > reading.head
    return behind and any(reading.tokens[i].lower in _LEANING for i in span)


def clause_texts(reading: Reading) -> tuple[str, ...]:
    """Each clause of a statement that has several as a statement of its own."""
    spans = clauses_of(reading)
    if len(spans) < 2:
        return ()
    about = range(reading.start, reading.head)
    return tuple(
        _quoted(reading, (*(about if _is_bare(reading, span) else ()), *span)) for span in spans
    )


def _quoted(reading: Reading, places: Sequence[int]) -> str:
    """The words at the places as they are written, without the stop behind the last."""
    told = ""
    for i in places:
        token = reading.tokens[i]
        if not (token.separator and i == places[-1]):
            told += (
                token.text if token.separator or token.text.startswith("'") else f" {token.text}"
            )
    return told.strip(" ,;")


def _is_bare(reading: Reading, span: range) -> bool:
    """Whether a clause opens with its verb: whom it is about was said before."""
    token = reading.tokens[span.start]
    return span.start == reading.head or token.lower in AUXILIARIES or token.lower in THIRD


@kept_by_reading
def clauses_of(reading: Reading) -> tuple[range, ...]:
    """The clauses of a statement with a verb each, from its main verb on, left to right."""
    tokens, start = reading.tokens, reading.head
    spans: list[range] = []
    for i in range(reading.verb_at + 1, len(tokens) - 1):
        if tokens[i].lower not in _JOINING:
            continue
        end = next(
            (k for k in range(i + 1, len(tokens)) if tokens[k].lower in _JOINING), len(tokens)
        )
        if not _is_clause(reading, range(start, i), range(i + 1, end)):
            continue
        spans.append(range(start, i))
        start = i + 1
    return (*spans, range(start, len(tokens)))


def _is_clause(reading: Reading, before: range, span: range) -> bool:
    tokens = reading.tokens
    for i in span:
        lower = tokens[i].lower
        if lower in _RELATIVE:
            return False
        if lower in AUXILIARIES and lower != "'s":
            return True
        base = THIRD.get(lower, "")
        if base and base not in AMBIGUOUS and not tokens[i].capital:
            return True
        behind = tokens[i + 1] if i + 1 < span.stop else None
        leads = behind is not None and (behind.lower in _BEHIND_VERB or behind.capital)
        verbal = bool(base) or is_past_form(lower) or (i == span.start and lower in BASES)
        if leads and verbal and not tokens[i].capital:
            return True
        if i > span.start and lower in BASES and looks_verbal(tokens, i):
            # "Children go free".
            return True
    return _is_gapped(reading, before, span)


def _is_gapped(reading: Reading, before: range, span: range) -> bool:
    """ "Uses Jira for tickets and Slack for chat": what one does twice, the verb told once."""
    lowers = [reading.tokens[i].lower for i in span]
    used = {reading.tokens[i].lower for i in before} & _PLACED
    return any(lower in used for lower in lowers[1 : _MOST_WORDS + 1]) and lowers[0] not in _PLACED


def _content(reading: Reading, span: range) -> set[int]:
    """Where the words and figures of a clause stand that say something of its own."""
    about = {word.stem for word in reading.words if word.in_subject}
    said = {
        word.position
        for word in reading.words
        if word.position in span
        and word.position != reading.verb_at
        and word.stem not in about
        and word.text not in FILLERS
    }
    return said | {each.start for each in reading.quantities if each.start in span}


def _told_of(ev: Evidence) -> set[int]:
    """Where the existing statement has what the new one speaks of as well."""
    c, e = ev.comparison, ev.existing
    told = {a.position for a, _ in c.shared} | {
        a.start for a, _ in (*c.equal_values, *c.other_values)
    }
    told |= {i for mark, _ in c.contrasts for i in range(mark.start, mark.end)}
    told |= {
        i
        for mark in e.of(Table.ATTRIBUTE)
        if any(row in c.attributes for row, _ in mark.ids)
        for i in range(mark.start, mark.end)
    }
    quoted = {word for _, quote, _ in c.oppositions for word in quote.split()}
    quoted |= set(ev.ending.split(" / ")[0].lower().split())
    return told | {i for i, token in enumerate(e.tokens) if token.lower in quoted}


def _is_left_by_move(ev: Evidence, span: range) -> bool:
    """ "Lives in Lille", "moved to Nantes": where one was, one is no more."""
    n = ev.new
    moved = bool(turning(n)) and n.tokens[n.verb_at].stem in MOVING
    return moved and any(ev.existing.tokens[i].stem in STAYING for i in span)
