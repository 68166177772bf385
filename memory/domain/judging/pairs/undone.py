"""What was not done, or refused, and then is: "has not been signed", "was signed on 4 March"."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from ..reading.frames import Reading, Word
from ..reading.quantities import Quantity
from ..reading.slots import OBJECT
from ..reading.tables import words
from ..reading.tokens import stem
from ..reading.verbs import is_past_form
from .change import is_past_event
from .change_words import FILLERS
from .evidence import Evidence
from .quantifiers import Extent, extent_of
from .tellings import tells_event

_BEING = words("is are")
_HAVING = _BEING | words("has have 's 've")
_NOBODY = words("nobody none no")
_DECIDING = frozenset(stem(verb) for verb in words("decide vote rule resolve settle determine"))
_YET = FILLERS | words("yet so far still again")


def undone_no_more(ev: Evidence, *, existing_at: datetime, new_at: datetime) -> str:
    """The words that tell that what was not done, or was refused, is done since then; or "".

    Without a day after the existing statement was made, and without "again", nothing says it.
    """
    e, n = ev.existing, ev.new
    if n.negative or ev.elsewhere or ev.signals.unreal or ev.before.past or ev.before.unreal:
        return ""
    if ev.comparison.other_values or extent_of(n) is Extent.PART:
        return ""
    if _is_undone(e) and _tells_deed(ev):
        return _told_since(n, since=existing_at, told_at=new_at)
    return "again" if _is_resumed(ev) else ""


def done_to_another(ev: Evidence) -> str:
    """ "Has not paid the deposit", "paid the rent": the deed that is denied is of another thing."""
    c = ev.comparison
    if _is_undone(ev.existing) == _is_undone(ev.new):
        return ""
    e, n = ev.existing, ev.new
    verbs = any(a.position == e.verb_at and b.position == n.verb_at for a, b in c.shared)
    mine, theirs = _acted_on(ev.existing, ev.left_existing), _acted_on(ev.new, ev.left_new)
    if not verbs or mine is None or theirs is None:
        return ""
    return f"done to another thing: {mine.text} / {theirs.text}"


def _acted_on(reading: Reading, left: tuple[Word, ...]) -> Word | None:
    """The noun that the deed is of, where it is left over."""
    told = [word for word in reading.words if reading.slots[word.position] == OBJECT]
    return told[-1] if told and told[-1] in left and told[-1].text not in _YET else None


def _is_undone(reading: Reading) -> bool:
    """ "Has not been signed", "nobody has tested it": a deed that is denied up to the telling."""
    verb = reading.verb_at
    if verb >= len(reading.tokens) or reading.verb not in _HAVING or verb == reading.head:
        return False
    opening = reading.tokens[reading.start].lower
    if reading.verb in _BEING and "yet" not in reading.lowers:
        # "Is not locked at night" is a habit.
        return False
    if "never" in reading.lowers or (opening in _NOBODY and "been" in reading.lowers):
        # It is told of all times or of all people.
        return False
    denied = verb in reading.denied or opening in _NOBODY
    return denied and is_past_form(reading.tokens[verb].lower)


def _tells_deed(ev: Evidence) -> bool:
    """Whether the new statement tells the denied deed, of the same thing, as done."""
    e, n, c = ev.existing, ev.new, ev.comparison
    met = any(a.position == e.verb_at for a, _ in c.shared)
    met = met or {e.tokens[e.verb_at].stem, n.tokens[n.verb_at].stem} <= _DECIDING
    if not met or n.verb_at in n.denied or not (tells_event(n) or is_past_event(n)):
        return False
    left = (word for word in ev.left_existing if word.position != e.verb_at)
    if any(word.text not in _YET | _NOBODY for word in left):
        return False
    return any(a.position != e.verb_at for a, _ in c.shared)


def _is_resumed(ev: Evidence) -> bool:
    """ "Takes no new patients", "takes new patients again": nothing else parts the two."""
    e, n, c = ev.existing, ev.new, ev.comparison
    lowers = [token.lower for token in n.tokens]
    if "again" not in lowers or lowers.index("again") in n.denied or "again" in e.lowers:
        return False
    if is_past_event(e) and not _is_undone(e):
        return False
    opposed = bool(c.oppositions or c.polarity) or e.negative
    quoted = {word for _, *each in c.oppositions for quote in each for word in quote.split()}
    return (
        opposed
        and bool(c.shared)
        and not _rest(e, ev.left_existing, quoted)
        and not _rest(n, ev.left_new, quoted)
    )


def _rest(reading: Reading, left: tuple[Word, ...], quoted: set[str]) -> list[Word]:
    known = quoted | _YET | _NOBODY
    return [w for w in left if w.text not in known and w.position != reading.verb_at]


def _told_since(reading: Reading, *, since: datetime, told_at: datetime) -> str:
    """The words for when it was done, where that is after `since` whatever day they mean."""
    told = told_at.date()
    for value in reading.quantities:
        day = _day_of(value, told)
        if day is not None and since.date() <= day <= told:
            return value.text
    lowers = [token.lower for token in reading.tokens]
    for i, lower in enumerate(lowers):
        days = _DAYS.get(lower)
        if days is None and lower in {"last", "this", "past"}:
            days = _SPANS.get(lowers[i + 1] if i + 1 < len(lowers) else "")
        if days is None and lower == "ago" and i:
            days = _days_before(reading, i)
        if days is not None and since.date() <= told - timedelta(days=days):
            return " ".join(token.text for token in reading.tokens[max(0, i - 1) : i + 2])
    return ""


# The most days that may lie between and the telling.
_DAYS = {"today": 0, "yesterday": 1, "tonight": 0, "just": 1, "meanwhile": 0, "recently": 30}
_SPANS = {
    **dict.fromkeys(words("morning afternoon evening night"), 1),
    **dict.fromkeys(words("week weekend"), 14),
    **dict.fromkeys(words("monday tuesday wednesday thursday friday saturday sunday"), 14),
    "month": 62,
}
_WEEK = 7


def _day_of(value: Quantity, told: date) -> date | None:
    """The first day that a date or the name of a weekday can stand for, seen from `told`."""
    if value.kind == "weekday":
        return None if value.text.lower().endswith("days") else told - timedelta(days=_WEEK)
    if value.kind != "date" or not value.parts[1]:
        return None
    year, month, day = value.parts
    try:
        if year:
            return date(year, month, day or 1)
        found = date(told.year, month, day or 1)
        return found if found <= told else date(told.year - 1, month, day or 1)
    except ValueError:
        return None


def _days_before(reading: Reading, ago: int) -> int | None:
    span = next((q for q in reading.quantities if q.end == ago and q.kind == "duration"), None)
    return None if span is None else int(span.value / 86_400) + 1
