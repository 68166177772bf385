"""Two statements of one thing that only look opposed, whatever the weights say of them.

When it begins and when it ends, all of them and some of them, one and what another is to her.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.names import Name
from ..reading.quantities import Quantity
from ..reading.slots import OBJECT, SUBJECT, is_copular
from ..reading.tables import words
from ..reading.tokens import stem
from .clauses import clauses_of
from .compare import same_name
from .entries import origin_and_doing, other_entry, other_limb
from .evidence import Evidence
from .hanging import hangs_on_another
from .left_what import leaves_another
from .narrowing import periodic_kind
from .of_a_part import told_of_a_part
from .of_its_object import told_of_another
from .parts import another_part, deeds_on_two_things, numbered_deeds
from .since_when import began_beside
from .stages import reaches_stage
from .tellings import is_norm, tells_event
from .undone import done_to_another
from .ways_in import way_into_another
from .whose_number import whose_other

_TIMED = frozenset({"clock", "date", "weekday", "number", "count"})
_FIRST = frozenset(stem(verb) for verb in words("start begin open leave depart commence"))
_LAST = frozenset(stem(verb) for verb in words("end finish close shut arrive conclude"))


def stands_apart(ev: Evidence) -> str:
    """Why neither says anything of what the other tells, or ""."""
    if ev.corrects:
        return ""
    plain = len(clauses_of(ev.new)) < 2
    finders = (*_FINDERS, *_OF_ONE_CLAUSE) if plain else _FINDERS
    return next((found for find in finders if (found := find(ev))), "")


def _two_ends(ev: Evidence) -> str:
    """ "Opens at 8", "closes at 18": where it begins and where it ends."""
    first, second = _end(ev.existing), _end(ev.new)
    if not first or not second or first == second:
        return _two_bounds(ev)
    return f"the {first} and the {second} of it"


def _two_bounds(ev: Evidence) -> str:
    """ "At least four people", "at most nine people": the least and the most of one figure."""
    if len(ev.comparison.other_values) != 1:
        return ""
    ((a, b),) = ev.comparison.other_values
    first, second = _bound(ev.existing, a), _bound(ev.new, b)
    if a.kind != b.kind or not first or not second or first == second:
        return ""
    least, most = (a, b) if first == "least" else (b, a)
    return f"the {first} and the {second} of it" if least.value < most.value else ""


def _bound(reading: Reading, value: Quantity) -> str:
    """Whether a figure is told to be the least or the most there can be, or ""."""
    lowers = [token.lower for token in reading.tokens]
    before = lowers[max(0, value.start - 2) : value.start]
    if before in (["at", "least"], ["down", "to"]) or "minimum" in lowers:
        return "least"
    return "most" if before in (["at", "most"], ["up", "to"]) or "maximum" in lowers else ""


@kept_by_reading
def _end(reading: Reading) -> str:
    """Whether the main verb tells when something begins or when it ends, or ""."""
    verb = reading.verb_at
    if verb >= len(reading.tokens) or verb in reading.denied or tells_event(reading):
        return ""
    timed = [
        each
        for each in reading.quantities
        if each.kind in _TIMED and each.start > verb and reading.slots[each.start] in _WHEN
    ]
    if not timed:
        return ""
    root = reading.tokens[verb].stem
    return "beginning" if root in _FIRST else "end" if root in _LAST else ""


_WHEN = frozenset({"at", "on", "in", "by", "before", "after", "from", OBJECT})


def _all_and_some(ev: Evidence) -> str:
    """ "There are sixty boats in the harbour", "forty boats there are wooden": some of them."""
    c = ev.comparison
    if len(c.other_values) != 1 or c.oppositions or c.polarity or ev.signals.change:
        return ""
    ((a, b),) = c.other_values
    for whole, part, total, some, left in (
        (ev.existing, ev.new, a, b, c.left_new),
        (ev.new, ev.existing, b, a, c.left_existing),
    ):
        counted = total.kind == some.kind == "count" and some.head in _counted(whole, total)
        shared = [pair[part is ev.new] for pair in c.shared]
        said = [word for word in left if _is_quality(word, part, shared)]
        if is_norm(part) or (part is ev.new and tells_event(part)):
            # "At most six may", "two more joined".
            continue
        is_part = counted and total.value > some.value and _is_total(whole, total)
        is_of_them = part.slots[some.start] == SUBJECT or part.tokens[0].lower == "of"
        if is_part and is_of_them and said:
            return f"some of them: {some.text} of {total.text}"
    return ""


# Where they are and that they belong to it is what the whole was counted by.
_BEING_THERE = frozenset(
    stem(word)
    for word in words(
        "live stand lie hang sit be keep belong attend work visit leave left remain find store "
        "house locate exist go come play sing park moor serve stay reside use count register "
        "today altogether total actually currently still only all there inside moment available"
    )
)


def _is_quality(word: Word, part: Reading, shared: Sequence[Word]) -> bool:
    """Whether the word tells something of some only, and not where the whole is."""
    if word.in_subject or word.stem in _BEING_THERE:
        return False
    # "Graze in the meadow" of the sheep in the meadow.
    repeats = any(other.position > part.verb_at for other in shared)
    return word.position != part.verb_at or not repeats


def _counted(reading: Reading, total: Quantity) -> frozenset[str]:
    """ "Sixty apple trees" are trees: the words behind the figure up to the next small one."""
    stems = {total.head}
    said = {word.position: word.stem for word in reading.words}
    place = total.end
    while place in said:
        stems.add(said[place])
        place += 1
    return frozenset(stems - {""})


def _is_total(reading: Reading, total: Quantity) -> bool:
    """ "There are sixty", "has sixty": how many there are, told of nothing else."""
    opening = reading.tokens[reading.start].lower if reading.start < len(reading.tokens) else ""
    existential = opening == "there" and is_copular(reading.tokens, reading.verb_at)
    return total.start > reading.verb_at and (existential or reading.verb in _HAVING)


_HAVING = words("has have holds contains counts employs")


def _whose_other(ev: Evidence) -> str:
    """ "Greta runs the shop", "Olaf is Greta's apprentice": what another one is to her."""
    for told, other in ((ev.new, ev.existing), (ev.existing, ev.new)):
        relation = _relation(told)
        if relation is None or other.negative:
            continue
        who, owner, noun = relation
        is_about = any(
            same_name(owner, name) and name.is_subject and not name.is_owner for name in other.names
        )
        if not is_about or any(same_name(who, name) for name in other.names):
            continue
        if not any(noun in (a.text, b.text) for a, b in ev.comparison.shared):
            return f"of somebody else: {who.text}, {noun}"
    return ""


@kept_by_reading
def _relation(reading: Reading) -> tuple[Name, Name, str] | None:
    """Whom it opens with, whose that one is and what: "Olaf is Greta's apprentice"."""
    if len(reading.names) < 2 or not is_copular(reading.tokens, reading.verb_at):
        return None
    who, owner = reading.names[0], reading.names[1]
    opens = who.start == reading.start and who.end == reading.head and who.text.lower() != "user"
    if not (opens and owner.is_owner and owner.start == reading.verb_at + 1):
        return None
    behind = [word for word in reading.words if word.position > owner.end]
    return (who, owner, behind[0].text) if behind else None


_FINDERS = (
    _two_ends,
    _all_and_some,
    another_part,
    numbered_deeds,
    _whose_other,
    periodic_kind,
    deeds_on_two_things,
    began_beside,
    hangs_on_another,
    done_to_another,
    way_into_another,
    other_entry,
    origin_and_doing,
    other_limb,
)
# "Left the party and works for X now" tells more than what was left.
_OF_ONE_CLAUSE = (
    leaves_another,
    reaches_stage,
    told_of_another,
    whose_other,
    told_of_a_part,
)
