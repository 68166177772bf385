"""What is done to a part of a thing, or to one of a number of them, leaves the others be."""

from __future__ import annotations

from functools import cache

from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.slots import OBJECT
from ..reading.tables import table_lines, words
from ..reading.tokens import stem
from .evidence import Evidence
from .tellings import tells_event

CHANGING = frozenset(
    stem(verb)
    for verb in words(
        "replace change swap renew exchange repair fix mend service repaint paint patch sell remove"
    )
)
_LINKS = words("of on in from for")


def another_part(ev: Evidence) -> str:
    """ "The car has a blue bumper", "replaced the light of the car": another part of it."""
    for change, state, at in ((ev.new, ev.existing, 1), (ev.existing, ev.new, 0)):
        changed = _changed_part(change)
        if changed is None or state.negative or tells_event(state):
            continue
        part, wholes = changed
        met = [(pair[1 - at], pair[at]) for pair in ev.comparison.shared]
        if any(theirs.position == part.position for _, theirs in met):
            continue
        of_it = {mine.position for mine, theirs in met if theirs.position in wholes}
        other = _told_part(state, of_it)
        if other is None or other.position in {mine.position for mine, _ in met}:
            continue
        mine, theirs = lines_of_part(other), lines_of_part(part)
        known = bool(mine and theirs)
        if mine & theirs or other.groups & part.groups or (ev.ending and not known):
            continue
        return f"different parts: {other.text} / {part.text}"
    return ""


@cache
def _names_of_parts() -> dict[str, frozenset[int]]:
    """The lines of the table of parts that hold the stem of each word."""
    found: dict[str, set[int]] = {}
    for row, line in enumerate(table_lines("parts")):
        for name in line.split(","):
            found.setdefault(stem(name.strip()), set()).add(row)
    return {name: frozenset(rows) for name, rows in found.items()}


def lines_of_part(part: Word) -> frozenset[int]:
    """The lines of the table of parts a word stands in; none for what is no known part."""
    return _names_of_parts().get(part.stem, frozenset())


@kept_by_reading
def _changed_part(reading: Reading) -> tuple[Word, frozenset[int]] | None:
    """The part that was changed, and where the words stand for what it is a part of."""
    verb = reading.verb_at
    if verb >= len(reading.tokens) or verb in reading.denied or not tells_event(reading):
        return None
    if reading.tokens[verb].stem not in CHANGING:
        return None
    behind = [word for word in reading.words if word.position > verb]
    for place in range(verb + 2, min(len(reading.tokens) - 1, verb + 8)):
        token = reading.tokens[place]
        if token.separator:
            return None
        nouns = [word for word in behind if word.position < place]
        others = [word for word in behind if place < word.position <= place + _NEAR]
        if token.lower == "'s" and nouns and others:
            return others[-1], frozenset({nouns[-1].position})
        if token.lower in _LINKS and nouns and others:
            return nouns[-1], frozenset({word.position for word in others})
    return None


_NEAR = 4


def _told_part(reading: Reading, of_it: set[int]) -> Word | None:
    """The part that a state is of: "the car has a blue bumper", "the bumper of the car is blue"."""
    inside = [word for word in reading.words if word.in_subject]
    if not of_it or not inside:
        return None
    last = inside[-1]
    if reading.verb in _BEARING and reading.verb_at == reading.head and last.position in of_it:
        told = [word for word in reading.words if reading.slots[word.position] == OBJECT]
        return told[-1] if told else None
    heads = [word for word in inside if word.position not in of_it]
    for word in inside:
        before = reading.tokens[word.position - 1].lower if word.position else ""
        after = reading.tokens[word.position + 1 : word.position + 2]
        owns = bool(after) and after[0].lower == "'s"
        if word.position in of_it and heads and (owns or _hangs(reading, word, before)):
            return heads[-1] if owns else heads[0]
    return None


def _hangs(reading: Reading, word: Word, before: str) -> bool:
    between = reading.tokens[max(reading.start, word.position - 3) : word.position]
    return before in _LINKS or any(token.lower == "of" for token in between)


_BEARING = words("has have 's")


def numbered_deeds(ev: Evidence) -> str:
    """ "Inspected boiler 3", "inspected boiler 5": done to one, and done to another."""
    if not (_is_deed(ev.existing) and _is_deed(ev.new)) or ev.signals.correction:
        return ""
    first, second = _numbered(ev.existing), _numbered(ev.new)
    for kind in first.keys() & second.keys():
        if first[kind] != second[kind]:
            return f"different things: {kind} {first[kind]} / {kind} {second[kind]}"
    return ""


def _is_deed(reading: Reading) -> bool:
    """Whether it tells what was done; "read" is the same in the past."""
    verb = reading.tokens[reading.verb_at : reading.verb_at + 1]
    return tells_event(reading) or (bool(verb) and verb[0].lower == "read")


@kept_by_reading
def _numbered(reading: Reading) -> dict[str, str]:
    """The number behind each noun that something was done to; what was chosen is a value."""
    verb = reading.verb_at
    if verb >= len(reading.tokens):
        return {}
    if reading.tokens[verb].stem in _SETTLING:
        return _contest(reading) if reading.tokens[verb].stem in _COMING_OUT else {}
    found: dict[str, str] = {}
    tokens = reading.tokens
    # "Worked on ticket 12" is done to it, and "played on stage 2" is where.
    done_to = _DONE_TO | {"on"} if tokens[verb].stem in _DONE_ON else _DONE_TO
    nouns = {word.position for word in reading.words}
    for each in reading.quantities:
        is_object = each.kind == "ordinal" and reading.slots[each.start] in {OBJECT, "of"}
        if is_object and each.start > verb and each.head not in {"", *_VALUES}:
            found.setdefault(each.head, each.text)
    nouns |= {each.start for each in reading.quantities if each.kind == "label"}
    for place in range(verb + 2, len(tokens)):
        noun, number = tokens[place - 1], tokens[place].lower.lstrip("#")
        if tokens[place].separator or noun.separator or reading.slots[place] not in done_to:
            continue
        behind = tokens[place + 1] if place + 1 < len(tokens) else None
        is_last = behind is None or behind.separator or behind.lower in _AFTER_NUMBERS
        if number.isdecimal() and is_last and place - 1 in nouns and noun.stem not in _VALUES:
            found.setdefault(noun.lower, number)
    return found


def _contest(reading: Reading) -> dict[str, str]:
    """ "Lost its first match": which of several was lost is no value."""
    return {
        each.head: each.text
        for each in reading.quantities
        if each.kind == "ordinal" and each.start > reading.verb_at and each.head in _CONTESTS
    }


_COMING_OUT = frozenset(stem(verb) for verb in words("win lose draw"))
_CONTESTS = frozenset(
    stem(noun)
    for noun in words(
        "match game stage round race bout fight leg set heat frame derby contest duel fixture half "
        "quarter election vote case trial lawsuit appeal battle war bid auction"
    )
)
_SETTLING = frozenset(
    stem(verb)
    for verb in words(
        "move switch change choose pick select set raise assign upgrade migrate reach get win lose "
        "score settle agree decide go come relocate transfer elect draw hit increase lower "
        "rent reserve book park stay live sit stand land lease hire occupy put place stop seat meet"
    )
)
# Where one is, how one came out and what sort a thing is: the number is what is told of it.
_VALUES = frozenset(
    stem(noun)
    for noun in words(
        "place seat row level floor storey gate runway platform bay berth room ward cabin "
        "apartment flat suite table desk locker shelf zone day evening night morning week month "
        "year class grade year stage league division prize rank position attempt try time model "
        "edition version size type category option plan tier number pitch"
    )
)
_DONE_ON = frozenset(
    stem(verb) for verb in words("work comment report speak lecture write vote consult test")
)
_DONE_TO = frozenset({OBJECT, "for", "of"})
_AFTER_NUMBERS = words(
    "of on in at and with by for from after before yesterday today last this again"
)


def deeds_on_two_things(ev: Evidence) -> str:
    """ "Designed the case", "designed the keypad": done to one thing, and done to another."""
    c, e, n = ev.comparison, ev.existing, ev.new
    if ev.signals.change or ev.signals.correction or c.oppositions or c.polarity or c.other_values:
        return ""
    if not (tells_event(e) and tells_event(n)) or e.tokens[e.verb_at].stem in _SETTLING | _ONCE:
        return ""
    if e.tokens[e.verb_at].stem != n.tokens[n.verb_at].stem:
        return ""
    if not any(a.in_subject and b.in_subject and a.is_name for a, b in c.shared):
        return ""
    mine, theirs = _acted_on(e), _acted_on(n)
    if mine is None or theirs is None or mine not in c.left_existing or theirs not in c.left_new:
        return ""
    return f"done to two things: {mine.text} / {theirs.text}"


_ONCE = frozenset(
    stem(verb)
    for verb in words("marry found bear adopt name call appoint become join leave lead study")
)


@kept_by_reading
def _acted_on(reading: Reading) -> Word | None:
    """The noun behind "the", where it is all that something was done to."""
    told = [word for word in reading.words if reading.slots[word.position] == OBJECT]
    if not told or told[0].position != reading.verb_at + 2:
        return None
    article = reading.tokens[reading.verb_at + 1].lower
    return told[-1] if article == "the" and not told[-1].is_name else None
