"""Statements that look opposed and exclude nothing: feelings, and deeds at two times."""

from __future__ import annotations

from ..reading.frames import Reading, kept_by_reading
from ..reading.slots import is_copular
from ..reading.tables import words
from ..reading.tokens import stem
from .change_words import turning
from .changes_apart import changes_something_else
from .evidence import Evidence
from .last_parts import tells_last_part
from .leaving import left_behind
from .narrowing import narrower_kind
from .opposed import opposed_elsewhere
from .parted_things import parts_with_another
from .posts_of_others import only_posts_of_others
from .tellings import tells_event
from .turns import Turn, moves_within, turn_of
from .two_sides import other_side

_FEELINGS = words(
    "glad happy sad sure proud excited thrilled stoked grateful thankful sorry lucky nervous "
    "worried anxious angry upset afraid scared pleased delighted keen eager impressed amazed "
    "surprised confident hopeful jealous ashamed relieved curious overwhelmed stressed frustrated "
    "disappointed determined motivated inspired passionate ecstatic furious embarrassed lonely "
    "bored nostalgic optimistic pessimistic"
)
_FEELING = stem("feel")
_BEHIND_VERB = 4


def excludes_nothing(ev: Evidence) -> str:
    """Why neither statement excludes the other, whatever speaks for it, or ""."""
    if ev.corrects:
        return ""
    if _runs_back(ev):
        return "there and back are two ways"
    if _leaves_something_else(ev):
        return "a thing left somewhere"
    if parts_with_another(ev):
        return "done to another thing"
    if _turns_to_something_else(ev):
        return "a change of something else"
    within = moves_within(ev)
    if within:
        return f"a move that names no other place: {within}"
    if _shows_its_end(ev):
        return "what the end of it looks like"
    other = changes_something_else(ev)
    if other:
        return other
    post = only_posts_of_others(ev.existing, ev.new, ev.comparison)
    if post:
        return post
    kind = narrower_kind(ev)
    if kind:
        return f"of one kind of it only: {kind}"
    if ev.signals.change or ev.signals.correction:
        return ""
    apart = opposed_elsewhere(ev.existing, ev.new, ev.comparison)
    if apart and not ev.ending:
        return apart
    return other_side(ev) or _feeling_about_something_else(ev) or _two_deeds(ev)


def _shows_its_end(ev: Evidence) -> bool:
    """ "Still lists the old number", "the old number ended in 4471": it is of no other state."""
    c, one, other = ev.comparison, ev.existing, ev.new
    if tells_last_part(one, one.verb_at) == tells_last_part(other, other.verb_at):
        return False
    if ev.signals.change or not (tells_event(one) or tells_event(other)):
        # "Ends in 44", "has changed the number".
        return False
    return not (c.other_values or c.oppositions)


def _leaves_something_else(ev: Evidence) -> bool:
    """ "Lives in Leeds", "left a phone in Leeds": a thing the other side does not speak of."""
    thing_e, thing_n = left_behind(ev.existing), left_behind(ev.new)
    if bool(thing_e) == bool(thing_n):
        return False
    return not any(
        (thing_e and thing_e == a.position) or (thing_n and thing_n == b.position)
        for a, b in ev.comparison.shared
    )


def _turns_to_something_else(ev: Evidence) -> bool:
    """ "Uses Jira", "switched to a new coffee supplier": what it is of is said by its own noun."""
    c, n = ev.comparison, ev.new
    if turn_of(ev) is Turn.OF_ELSE:
        return True
    if not turning(n) or c.other_values or c.oppositions or c.polarity or ev.ending or c.contrasts:
        return False
    if any(not (a.in_subject and b.in_subject) for a, b in c.shared) or c.attributes:
        return False
    targets = [word for word in ev.left_new if n.slots[word.position] in {"to", "into"}]
    articles = (token.lower for token in n.tokens[n.verb_at + 1 : n.verb_at + 4])
    if not targets or any(word.is_name for word in targets) or not {"a", "an"} & set(articles):
        return False
    kinds = {row for word in targets for row, _ in word.kinds}
    return kinds.isdisjoint(row for word in ev.left_existing for row, _ in word.kinds)


def _feeling_about_something_else(ev: Evidence) -> str:
    """ "Is glad to help", "is sure that it works": one may feel both."""
    feeling = _feeling(ev.existing) or _feeling(ev.new)
    if not feeling:
        return ""
    if _feeling(ev.existing) and ev.existing.verb in _BEING:
        return f'a feeling of its time ("{feeling}")'
    met = any(
        not (a.is_name or a.text in _FEELINGS or (a.in_subject and b.in_subject))
        for a, b in ev.comparison.shared
    )
    return "" if met else f'a feeling about something else ("{feeling}")'


@kept_by_reading
def _feeling(reading: Reading) -> str:
    """The feeling that a statement tells as its main matter, or ""."""
    verb = reading.verb_at
    if verb >= len(reading.tokens):
        return ""
    token = reading.tokens[verb]
    # "Was stressed" reads like "was asked".
    is_state = reading.head < verb and token.lower in _FEELINGS
    if not (is_state or is_copular(reading.tokens, verb) or token.stem == _FEELING):
        return ""
    told = (token.lower for token in reading.tokens[verb : verb + _BEHIND_VERB])
    return next((word for word in told if word in _FEELINGS), "")


def _two_deeds(ev: Evidence) -> str:
    """ "Version 2.1 came out in April", "version 2.2 in May": each at a time of its own."""
    is_repeated = "again" in ev.new.lowers and _is_past(ev.existing) and _is_past(ev.new)
    if not is_repeated and not (_tells_deed(ev.existing) and _tells_deed(ev.new)):
        return ""
    first, second = _date(ev.existing), _date(ev.new)
    same = any(a.kind == "date" for a, _ in ev.comparison.equal_values)
    others = [a for a, _ in ev.comparison.other_values if a.kind != "date"]
    differ = (ev.left_existing and ev.left_new) or others
    if not (first and second and (differ or is_repeated)) or same:
        return ""
    return f"two events at two times: {first} / {second}"


def _is_past(reading: Reading) -> bool:
    """Whether a statement tells of a time that is over."""
    return reading.verb in {"was", "were", "had"} or tells_event(reading)


def _runs_back(ev: Evidence) -> bool:
    """ "The flight to Oslo", "the flight back from Oslo": another way, another thing."""
    ways = {
        (_way(ev.existing, a.position), _way(ev.new, b.position))
        for a, b in ev.comparison.shared
        if a.in_subject and b.in_subject
    }
    return bool(ways & {("to", "from"), ("from", "to")})


def _way(reading: Reading, position: int) -> str:
    before = [token.lower for token in reading.tokens[max(0, position - 2) : position]]
    return next((word for word in reversed(before) if word in {"to", "from"}), "")


def _tells_deed(reading: Reading) -> bool:
    """Whether something was done; what has been so since a time is a state."""
    verb = reading.tokens[reading.verb_at : reading.verb_at + 1]
    return tells_event(reading) and verb[0].lower not in _BEING


_BEING = words("been was were had")


def _date(reading: Reading) -> str:
    return next((each.text for each in reading.quantities if each.kind == "date"), "")
