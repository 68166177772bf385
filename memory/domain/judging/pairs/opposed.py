"""Opposite statements that leave each other alone: of two sides, objects, places or days."""

from __future__ import annotations

from ..reading.frames import Reading, Word
from ..reading.slots import OBJECT, SUBJECT
from ..reading.tables import words
from ..reading.tokens import stem
from .compare import Comparison
from .nouns import head_noun
from .tellings import tells_event

_PLACES = words("in on near inside outside")
_DATED = frozenset({"on", "in", "at", "from", "during", "before", "after", "for", "of"})


def opposed_elsewhere(e: Reading, n: Reading, c: Comparison) -> str:
    """What the two are opposed about, where that is not one thing, or ""."""
    if not (c.oppositions or c.polarity):
        return ""
    for kind, found in (
        ("sides", _sides(e, n, c)),
        ("things", _opposed_things(e, c)),
        ("occasions", _opposed_occasions(e, n)),
        ("objects", _opposed_objects(e, n, c)),
        ("places", _opposed_sites(e, n, c)),
        ("users", _opposed_users(e, n, c)),
    ):
        if found:
            return f"different {kind}: {found}"
    return _other_day(e, n, c) or _opposed_places(e, n, c)


_SIDES = words("north south east west northern southern eastern western left right upper lower")


def _sides(e: Reading, n: Reading, c: Comparison) -> str:
    """ "The east wing", "the west wing": opposite sides that are not all that differs."""
    for _, one, other in c.oppositions:
        if one not in _SIDES or other not in _SIDES:
            continue
        quoted = {one, other}
        rest_e = [w for w in c.left_existing if w.text not in quoted]
        rest_n = [w for w in c.left_new if w.text not in quoted]
        slots = {
            reading.slots[token]
            for reading in (e, n)
            for token, each in enumerate(reading.tokens)
            if each.lower in quoted
        }
        placed = slots <= _HOLDERS and rest_e and rest_n
        if slots == {SUBJECT} or placed or (SUBJECT in slots and (rest_e or rest_n)):
            return f"{one} / {other}"
    return ""


def _opposed_objects(e: Reading, n: Reading, c: Comparison) -> str:
    """ "Hates long meetings", "enjoys long rides": the nouns that opposite verbs act on."""
    if not c.oppositions or len(c.oppositions) > 1:
        return ""
    first, second = e.tokens[e.verb_at], n.tokens[n.verb_at]
    _, one, other = c.oppositions[0]
    if first.text not in one.split() or second.text not in other.split():
        return ""
    mine, theirs = _object_noun(e), _object_noun(n)
    if mine is None or theirs is None:
        return ""
    if mine.text in one.split() or theirs.text in other.split():
        return ""
    if mine in c.left_existing and theirs in c.left_new:
        return f"{mine.text} / {theirs.text}"
    return ""


def _opposed_things(e: Reading, c: Comparison) -> str:
    """ "Off the tax module", "on the payroll module": one noun with other words before it."""
    quoted = {word for _, one, other in c.oppositions for word in (*one.split(), *other.split())}
    left_e = {w.position: w.text for w in c.left_existing if w.text not in quoted}
    left_n = {w.position: w.text for w in c.left_new if w.text not in quoted}
    for a, b in c.shared:
        x, y = left_e.get(a.position - 1), left_n.get(b.position - 1)
        if x and y and not a.is_name and a.text not in quoted and e.verb_at < a.position - 1:
            return f"{x} {a.text} / {y} {b.text}"
    return ""


def _opposed_occasions(e: Reading, n: Reading) -> str:
    """ "Closed on public holidays", "open on Sundays": opposite states on two occasions."""
    if tells_event(n):
        return ""
    mine, theirs = _occasion(e), _occasion(n)
    met = _days_of(mine) & _days_of(theirs)
    return f"{mine} / {theirs}" if mine and theirs and not met else ""


def _days_of(occasion: str) -> set[str]:
    """The stems of an occasion's words; a weekend is its days."""
    found = {stem(word.lower()) for word in occasion.split()}
    return found | _WEEKEND if found & _WEEKEND_NAMES else found


_WEEKEND = frozenset(stem(day) for day in words("saturday saturdays sunday sundays"))
_WEEKEND_NAMES = frozenset({stem("weekend"), stem("weekends")})


def _occasion(reading: Reading) -> str:
    """What stands behind "on", "during" or "when", or the day that does."""
    for quantity in reading.quantities:
        before = reading.tokens[quantity.start - 1].lower if quantity.start else ""
        if quantity.kind == "weekday" and before in {"on", "at"}:
            return quantity.text
    found = [w.text for w in reading.words if reading.slots[w.position] in _WHEN]
    return " ".join(found)


_WHEN = frozenset({"on", "during", "when", "while"})


def _opposed_users(e: Reading, n: Reading, c: Comparison) -> str:
    """ "Closed to lorries", "pedestrians may use it": of two for whom a thing is there or not."""
    for _, one, other in c.oppositions:
        if not (one.endswith(" to") or other.endswith(" to")):
            continue
        mine, theirs = _users(e, one), _users(n, other)
        if mine in c.left_existing and theirs in c.left_new and mine and theirs:
            return f"{mine.text} / {theirs.text}"
    return ""


def _users(reading: Reading, quoted: str) -> Word | None:
    """Who a word of permission is about: behind "closed to", else the subject."""
    if not quoted.endswith(" to"):
        found = head_noun(reading)
    else:
        last = quoted.split()[-2:]
        lowers = [token.lower for token in reading.tokens]
        ends = [i for i in range(2, len(lowers)) if lowers[i - 2 : i] == last]
        found = next((w for w in reading.words if ends and w.position >= ends[0]), None)
    return None if found is None or found.text in _ANYONE else found


_ANYONE = words("public everyone everybody anyone anybody all nobody people visitors guests users")


def _object_noun(reading: Reading) -> Word | None:
    """The last content word of the object."""
    found = [word for word in reading.words if reading.slots[word.position] == OBJECT]
    return found[-1] if found else None


def _opposed_places(e: Reading, n: Reading, c: Comparison) -> str:
    """ "Not in the building", "allowed on the terrace": opposite states of two places."""
    if c.attributes:
        return ""
    quoted = {word for _, one, other in c.oppositions for word in (*one.split(), *other.split())}
    mine = [w for w in c.left_existing if _is_placed(e, w) and w.text not in quoted]
    theirs = [w for w in c.left_new if _is_placed(n, w) and w.text not in quoted]
    if not (mine and theirs) or _last_placed(e) not in mine or _last_placed(n) not in theirs:
        # "On the building site", "on the site".
        return ""
    return f"different places: {mine[-1].text} / {theirs[-1].text}"


def _last_placed(reading: Reading) -> Word | None:
    placed = [word for word in reading.words if _is_placed(reading, word)]
    return placed[-1] if placed else None


def _is_placed(reading: Reading, word: Word) -> bool:
    if word.text == "good" and reading.tokens[word.position - 1].lower == "for":
        # "Turned it off for good".
        return False
    slot = reading.slots[word.position]
    verb = reading.tokens[reading.verb_at].lower if reading.verb_at < len(reading.tokens) else ""
    return slot in _SCOPES or (slot == OBJECT and verb in _ENTERING)


_SCOPES = _PLACES | words("for with from within per during while")


_ENTERING = words("use enter visit access uses enters visits accesses")


def _opposed_sites(e: Reading, n: Reading, c: Comparison) -> str:
    """ "There is no sugar in the bread", "the tart is made with sugar": in another thing."""
    if not (_tells_being(e) or _tells_being(n)):
        return ""
    for a, b in c.other_values:
        if a.kind == b.kind == "label" and {e.slots[a.start], n.slots[b.start]} <= _HOLDERS:
            return f"{a.text} / {b.text}"
    mine, theirs = _site(e), _site(n)
    if mine is None or theirs is None or mine not in c.left_existing or theirs not in c.left_new:
        return ""
    return f"{mine.text} / {theirs.text}"


_HOLDERS = _PLACES | {SUBJECT}


def _tells_being(reading: Reading) -> bool:
    """ "There is (no) ... in ...": that something is somewhere, or is not."""
    opening = [token.lower for token in reading.tokens[reading.start : reading.start + 1]]
    return opening in (["there"], ["no"])


def _site(reading: Reading) -> Word | None:
    """The noun of where something is, else of what has it."""
    placed = [word for word in reading.words if reading.slots[word.position] in _PLACES]
    if placed or _tells_being(reading):
        return placed[-1] if placed else None
    return head_noun(reading)


def _other_day(e: Reading, n: Reading, c: Comparison) -> str:
    """ "Away on 12 March", "free on 13 March": states of two days."""
    for a, b in c.other_values:
        if {a.kind, b.kind} <= {"date", "weekday"}:
            before = e.tokens[a.start - 1].lower if a.start else ""
            after = n.tokens[b.start - 1].lower if b.start else ""
            weekdays = a.kind == b.kind == "weekday"
            if weekdays or (before in _DATED and after in _DATED):
                return f"different days: {a.text} / {b.text}"
    return ""


def denied_at_large(e: Reading, n: Reading, c: Comparison) -> str:
    """ "Drinks no alcohol", "drinks wine with dinner": one denies all that the other has a case of.

    The denial has no word or figure of its own that would narrow it. Returns the denied word or "".
    """
    if c.polarity is None or c.oppositions or c.other_values or e.negative == n.negative:
        return ""
    wide, left = (e, c.left_existing) if e.negative else (n, c.left_new)
    case = n if wide is e else e
    if left or wide.quantities or tells_event(case) or not _NARROWING.isdisjoint(wide.lowers):
        return ""
    if not _TEMPORARY.isdisjoint(case.lowers) or case.verb in {"was", "were", "had"}:
        return ""
    verbs = e.tokens[e.verb_at].stem == n.tokens[n.verb_at].stem
    said = any(not (a.in_subject and b.in_subject) and a.position != e.verb_at for a, b in c.shared)
    subject = any(a.in_subject and b.in_subject for a, b in c.shared)
    return c.polarity[0] if verbs and said and subject else ""


_NARROWING = words("only all every always yet necessarily often usually much many more enough")
_TEMPORARY = words("may might could used would once only")
