"""A subject that only hangs on the other's: "the author of the novel", "the farm next to them"."""

from __future__ import annotations

from ..reading.frames import Reading, Word
from ..reading.lexicon import Table
from ..reading.slots import is_copular
from ..reading.tables import words
from .evidence import Evidence
from .nouns import NO_THINGS, head_noun
from .of_its_object import BEINGS
from .tellings import verbs_of

_PLACES = words("next beside behind opposite near alongside above below across")
_OF, _FOR = "of", "for"
# What is paid for or given to a thing, and is so told of the thing itself.
_ITS_OWN = words(
    "ticket tickets admission entry entrance pass fare bill charge rest whole story plot action "
    "scene version edition copy quantity discount rebate surcharge deposit minimum maximum order "
    "allowance quota ration dose dosage salary wage pay capacity weight size height depth range "
    "period notice"
)


def hangs_on_another(ev: Evidence) -> str:
    """What one is about, where it stands by or belongs to what the other is about; or ""."""
    for a, b in ev.comparison.shared:
        if not (a.in_subject and b.in_subject):
            continue
        for reading, hung, other, held in (
            (ev.new, b, ev.existing, a),
            (ev.existing, a, ev.new, b),
        ):
            staff = _belongs(reading, hung)
            if staff is not None and _is_apart(ev, staff, other):
                return f"different things: {staff.text} of {hung.text} / {held.text}"
            link = _link(reading, hung)
            head = next((w for w in reversed(reading.words) if w.position < link), None)
            if head is None or head.is_name or head.position < link - 1:
                continue
            told = reading.tokens[link].lower
            beside = told in _PLACES and _names_it(other, held)
            if beside or _is_of_it(ev, reading, other, head=head, held=held, link=told):
                return f"different things: {head.text} {told} {hung.text} / {held.text}"
    return ""


def _belongs(reading: Reading, owner: Word) -> Word | None:
    """ "The band's drummer": who of a thing is told of, by what that one does."""
    after = reading.tokens[owner.position + 1 : owner.position + 2]
    if not after or after[0].lower != "'s" or owner.is_name:
        return None
    head = next((w for w in reading.words if w.position == owner.position + 2), None)
    return head if head and _is_being(head) and not _tells_who(reading) else None


def _is_apart(ev: Evidence, head: Word, other: Reading) -> bool:
    """Whether the other side has no word for the one who is told of, or for what they do."""
    met = any(head in pair for pair in ev.comparison.shared)
    named = any(word.is_name for word in other.words)
    grouped = any(head.groups & word.groups for word in other.words)
    return not (met or named or grouped or _acts_on_value(ev))


def _acts_on_value(ev: Evidence) -> bool:
    """ "Costs 30 euros", "its owner put the price up to 35": a deed that sets the thing's value."""
    c = ev.comparison
    return bool(c.other_values) and not verbs_of(ev.existing, ev.new, c)[0]


def _link(reading: Reading, hung: Word) -> int:
    """Where the word stands that hangs a noun on the one before it, 0 for none."""
    for place in range(hung.position - 1, max(reading.start, hung.position - _REACH), -1):
        lower = reading.tokens[place].lower
        if lower in _PLACES or lower in {_OF, _FOR}:
            inner = lower == _OF and reading.tokens[place - 1].lower in _PLACES
            return place - inner
        if reading.tokens[place].separator:
            break
    return 0


_REACH = 5


def _names_it(other: Reading, held: Word) -> bool:
    """Whether the name is the other's subject or whose it is, and not where it is."""
    before = [token.lower for token in other.tokens[other.start : held.position]]
    return held.is_name and _PLACES.isdisjoint(before)


def _is_of_it(
    ev: Evidence, reading: Reading, other: Reading, *, head: Word, held: Word, link: str
) -> bool:
    """ "The electricity for the stall", "the author of the novel": no side of the thing itself."""
    c = ev.comparison
    if link not in {_OF, _FOR} or ev.ending or ev.signals.change or ev.signals.correction:
        return False
    noun = head_noun(other)
    if noun is None or noun.position != held.position or reading.verb == ":":
        return False
    if head.text in NO_THINGS | _ITS_OWN or any(head in pair for pair in c.shared):
        return False
    if any(head.groups & word.groups for word in other.words):
        return False
    if _is_being(head):
        return not (_tells_who(reading) or _acts_on_value(ev))
    named = any(m.start <= head.position < m.end for m in reading.of(Table.ATTRIBUTE))
    return link == _FOR and not named


def _is_being(head: Word) -> bool:
    if head.text.removesuffix("s") in _USERS:
        return False
    return not BEINGS.isdisjoint({head.text, head.text.removesuffix("s")}) or (
        head.text.endswith(_DOERS) and len(head.text) > _SHORT
    )


# What holds for them is a rule of the thing they use.
_USERS = words(
    "customer visitor member student guest patient user passenger tenant employee worker reader "
    "player subscriber holder buyer client driver rider resident participant pupil teacher trainer "
    "speaker traveller leader manager"
)
_DOERS = ("er", "ers", "or", "ors", "ist", "ists", "ian", "ians")
_SHORT = 5


def _tells_who(reading: Reading) -> bool:
    """ "The head of the school is Anna": who it is is told of the school."""
    named = any(word.is_name and word.position > reading.verb_at for word in reading.words)
    return named and is_copular(reading.tokens, reading.verb_at)
