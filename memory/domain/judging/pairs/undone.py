"""What was not done, or refused, and then is: "has not been signed", "was signed on 4 March"."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from ..reading.frames import Reading, Word
from ..reading.quantities import Quantity
from ..reading.slots import OBJECT, is_copular
from ..reading.tables import words
from ..reading.tokens import stem
from ..reading.verbs import is_past_form
from .change import is_past_event
from .change_words import FILLERS
from .evidence import Evidence
from .quantifiers import Extent, extent_of
from .same_deed import same_deed
from .tellings import tells_event

_BEING = words("is are")
_HAVING = _BEING | words("has have 's 've")
_NOBODY = words("nobody none no")
_DECIDING = frozenset(stem(verb) for verb in words("decide vote rule resolve settle determine"))
_ANOTHER = words(
    "'s other another second third elsewhere off out without only except my your his her its our "
    "their"
)
_DENIALS = words("not no never nobody none")
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
    if is_undone(e) and _tells_deed(ev):
        return _told_since(n, since=existing_at, told_at=new_at)
    return "again" if _is_resumed(ev) else ""


def done_to_another(ev: Evidence) -> str:
    """ "Has not paid the deposit", "paid the rent": the deed that is denied is of another thing."""
    c = ev.comparison
    if is_undone(ev.existing) == is_undone(ev.new):
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


def is_undone(reading: Reading) -> bool:
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
    met = any(a.position == e.verb_at and b.position == n.verb_at for a, b in c.shared)
    met = met or {e.tokens[e.verb_at].stem, n.tokens[n.verb_at].stem} <= _DECIDING
    if not met or n.verb_at in n.denied or not (tells_event(n) or is_past_event(n)):
        return False
    return same_deed(e, n)


def _is_resumed(ev: Evidence) -> bool:
    """ "Takes no new patients", "takes new patients again": nothing else parts the two."""
    e, n, c = ev.existing, ev.new, ev.comparison
    lowers = [token.lower for token in n.tokens]
    if "again" not in lowers or lowers.index("again") in n.denied or "again" in e.lowers:
        return False
    if (is_past_event(e) and not is_undone(e)) or not _ANOTHER.isdisjoint(n.lowers - e.lowers):
        return False
    if not _DENIALS.isdisjoint(e.lowers):
        return _says_again(ev)
    return bool(c.oppositions and c.shared) and not (_rest(ev, e) or _rest(ev, n))


def _says_again(ev: Evidence) -> bool:
    """ "Sells no stamps", "sells stamps again"; but "doesn't drink wine", "drinks beer again"."""
    e, n = ev.existing, ev.new
    mine = {word.stem for word in e.words if word.text not in _YET | _NOBODY}
    theirs = {word.stem for word in n.words if word.text not in _YET | _NOBODY}
    verbs = {e.tokens[e.verb_at].stem}, {n.tokens[n.verb_at].stem}
    met = any(a.position == e.verb_at and b.position == n.verb_at for a, b in ev.comparison.shared)
    if is_copular(e.tokens, e.verb_at) or verbs[0] == verbs[1] or verbs[0] & theirs:
        met = True
    return met and mine - verbs[0] <= theirs and theirs - verbs[1] <= mine


def _rest(ev: Evidence, reading: Reading) -> list[Word]:
    """What is left over but the verb and what opposes the other: "is closed", "is open again"."""
    left = ev.comparison.left_existing if reading is ev.existing else ev.comparison.left_new
    known = {reading.verb_at}
    if is_copular(reading.tokens, reading.verb_at):
        known |= {word.position for word in _predicate(reading) if word.text in _quoted(ev)}
    passed = _YET | _NOBODY
    return [word for word in left if word.text not in passed and word.position not in known]


def _predicate(reading: Reading) -> list[Word]:
    """The first word that is said of the subject."""
    return [word for word in reading.words if word.position > reading.verb_at][:1]


def _quoted(ev: Evidence) -> set[str]:
    opposed = ev.comparison.oppositions
    return {word for _, *each in opposed for quote in each for word in quote.split()}


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
