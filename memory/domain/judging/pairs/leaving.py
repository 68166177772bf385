"""Two senses of "left": somebody is there no more, or a thing stays behind where they were."""

from __future__ import annotations

from ..reading.frames import Reading, kept_by_reading
from ..reading.tables import words
from ..reading.tokens import stem

_BEFORE_THINGS = words("a an the his her their its our my your some two three several")
_SITES = words("in at on under behind near inside outside beside")
_LINKS = _SITES | words(
    "of for to from after before since until as when because and or but with by"
)
# Whom or what one leaves by being there no more.
_LEAVABLE = frozenset(
    stem(word)
    for word in words(
        "company firm employer job work school university college team band club choir group party "
        "church army navy police board council committee union post position role office city town "
        "country village island house home flat apartment building room hotel husband wife partner "
        "girlfriend boyfriend fiance fiancee family parents project organisation organization "
        "agency startup bank hospital department society association faculty staff service "
        "profession career course programme program studies degree practice league squad orchestra "
        "ensemble newspaper magazine studio shop store lab laboratory institute academy gym field "
        "industry sector business chair seat chat channel meeting place area region neighbourhood "
        "district community federation alliance venture partnership monastery commune camp crew "
        "troupe cast ministry parliament government senate embassy law branch division unit"
    )
)
_SEASONS = words("spring summer autumn fall winter morning evening night end middle")
_TIMES = frozenset({"date", "weekday", "clock", "duration", "frequency"})


def leaves_behind(reading: Reading, verb: int) -> bool:
    """Whether "left" at `verb` tells where a thing was left: "left a phone in Leeds"."""
    return _thing_left(reading, verb) > 0


def _thing_left(reading: Reading, verb: int) -> int:
    """Where the noun of the thing stands, 0 for none."""
    tokens = reading.tokens
    if verb + 1 >= len(tokens) or tokens[verb + 1].lower not in _BEFORE_THINGS:
        return 0
    noun = verb + 1
    while noun + 1 < len(tokens) and tokens[noun + 1].lower not in _LINKS:
        noun += 1
        if tokens[noun].separator or tokens[noun].text[:1].isupper():
            # "Left the Foxgloves".
            return 0
    if noun == verb + 1 or tokens[noun].stem in _LEAVABLE:
        return 0
    timed = {q.start for q in reading.quantities if q.kind in _TIMES}
    for place in range(noun + 1, len(tokens) - 1):
        if tokens[place].separator:
            return 0
        after = {place + 1, place + 2}
        if tokens[place].lower in _SITES and timed.isdisjoint(after):
            told = {token.lower for token in tokens[place + 1 : place + 3]}
            return noun if _SEASONS.isdisjoint(told) else 0
    return 0


@kept_by_reading
def left_behind(reading: Reading) -> int:
    """Where the noun stands that the main verb tells was left somewhere, 0 for none."""
    verb = reading.verb_at
    is_left = verb < len(reading.tokens) and reading.tokens[verb].lower == "left"
    return _thing_left(reading, verb) if is_left else 0
