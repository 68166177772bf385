"""News of a part or belonging of a thing, and what an earlier statement tells of the thing itself.

"Replaced the bakery's locks" neither ends nor repeats "owns the bakery".
"""

from __future__ import annotations

from ..reading.frames import Reading, Word
from ..reading.slots import OBJECT, is_copular
from ..reading.tables import words
from ..reading.tokens import stem
from .change_words import MOVING
from .clauses import clauses_of
from .evidence import Evidence
from .left_what import departure_of
from .part_phrases import (
    DETERMINERS,
    PartPhrase,
    is_attribute,
    is_being,
    is_hold,
    part_phrases,
    run_of,
    verb_stem,
)
from .parts import lines_of_part
from .tellings import tells_event, verbs_of


def told_of_a_part(ev: Evidence) -> str:
    """The part of a thing that the new statement is of, where the other is of the thing; or ""."""
    phrase = _met_part(ev)
    if phrase is None or not _is_of_whole(ev, phrase) or _is_same_doing(ev, phrase):
        return ""
    if any(not _is_other(phrase, word) for word in _others(ev, phrase)):
        return ""
    return f"of a part only: {phrase.part[-1].text} / {phrase.owner.text}"


def may_be_of_a_part(ev: Evidence) -> str:
    """The part that is told to change, where that may or may not end what is told of the whole."""
    phrase = _met_part(ev)
    if phrase is None or _uses(ev.existing) or len(clauses_of(ev.new)) > 1:
        return ""
    known = bool(lines_of_part(phrase.part[-1])) and not ev.ending
    if _met(ev, phrase).in_subject and not known:
        return ""
    return f"perhaps of the {phrase.part[-1].text} alone"


def _met_part(ev: Evidence) -> PartPhrase | None:
    """The part the new statement is of, if all it says of the other's matter is whose it is."""
    e, n, c = ev.existing, ev.new, ev.comparison
    if ev.signals.correction or c.other_values or c.equal_values or e.negative:
        return None
    if verb_stem(n) in _LEAVING or departure_of(n) or not _REFERRING.isdisjoint(n.lowers):
        return None
    for phrase in part_phrases(n):
        whole = next((a for a, b in c.shared if b.position == phrase.owner.position), None)
        if whole is None or not _is_one_thing(e, whole) or _is_named_again(n, phrase):
            continue
        if c.oppositions and not (is_being(phrase.part[-1]) or verbs_of(e, n, c)[0]):
            continue
        if not (_tells_more(ev, phrase, whole) or _is_known(ev, phrase) or is_hold(n, phrase)):
            return phrase
    return None


_LEAVING = frozenset(stem(verb) for verb in words("leave left quit exit resign"))
_REFERRING = words("it them this that itself themselves")


def _met(ev: Evidence, phrase: PartPhrase) -> Word:
    at = phrase.owner.position
    return next(a for a, b in ev.comparison.shared if b.position == at)


def _is_one_thing(reading: Reading, word: Word) -> bool:
    """ "Owns the bakery", "walks Bella"; not "drives the bakery van", "is heated with oil"."""
    if word.is_name:
        return True
    if len(run_of(reading, word.position, 1)) > 1:
        return False
    run = run_of(reading, word.position, -1)
    if not run:
        return False
    before = [token.lower for token in reading.tokens[reading.start : run[0].position]]
    return not DETERMINERS.isdisjoint(before[-2:])


def _is_named_again(reading: Reading, phrase: PartPhrase) -> bool:
    """Whether the statement speaks of the thing beside its part."""
    return any(
        word.stem == phrase.owner.stem and word.position != phrase.owner.position
        for word in reading.words
    )


def _tells_more(ev: Evidence, phrase: PartPhrase, whole: Word) -> bool:
    """Whether the two share a thing that something is done to beside the one that is parted."""
    mine = {word.position for word in run_of(ev.existing, whole.position, -1)}
    return any(
        a.position not in mine
        and a.position != ev.existing.verb_at
        and b.position != ev.new.verb_at
        and OBJECT in {ev.existing.slots[a.position], ev.new.slots[b.position]}
        and not (a.in_subject and b.in_subject)
        for a, b in ev.comparison.shared
        if b.position != phrase.owner.position
    )


def _is_known(ev: Evidence, phrase: PartPhrase) -> bool:
    """Whether the other statement has a word for the part, or for who or what it would be."""
    e, n, c = ev.existing, ev.new, ev.comparison
    part = {word.position for word in phrase.part}
    if any(b.position in part for _, b in c.shared):
        return True
    if any(e.slots[word.position] in _MEANS for word in _others(ev, phrase)):
        return True
    head = phrase.part[-1]
    rows = {row for row, _ in head.kinds}
    for word in e.words:
        if any(word.groups & each.groups for each in phrase.part):
            return True
        if any(row in rows for row, _ in word.kinds) or _is_of_one_root(word, head):
            return True
    if is_being(head) and not lines_of_part(head):
        shared = {a.position for a, _ in c.shared}
        return any(
            word.is_name and word.position not in shared and e.slots[word.position] != "in"
            for word in e.words
        )
    if lines_of_part(head) or not is_attribute(n, head):
        return False
    if verb_stem(e) == stem("belong"):
        return False
    rest = any(not word.in_subject for word in _others(ev, phrase))
    return _met(ev, phrase).in_subject or bool(e.quantities) or rest


_MEANS = words("with without by via through as")


def _is_of_one_root(word: Word, part: Word) -> bool:
    """ "Owns": "ownership", "manages": "management"."""
    stems = len(word.stem) >= _ROOT and part.text.startswith(word.stem)
    return stems or (len(part.text) >= _SAME and word.text[:_SAME] == part.text[:_SAME])


_ROOT, _SAME = 3, 5


def _is_of_whole(ev: Evidence, phrase: PartPhrase) -> bool:
    """Whether the other is of the whole: what is done with it, where it stands, whose it is."""
    e, whole = ev.existing, _met(ev, phrase)
    known = bool(lines_of_part(phrase.part[-1]))
    if not whole.in_subject:
        others = _others(ev, phrase)
        fits = known and not any(word.is_name for word in others)
        return not _uses(e) or not others or fits
    after = e.tokens[e.verb_at + 1 : e.verb_at + 2]
    behind = after[0].lower if after else ""
    if verb_stem(e) == stem("belong"):
        return True
    if ev.ending or _uses(e) or not (tells_event(ev.new) or ev.signals.change):
        return False
    if _is_placed(e) and verb_stem(ev.new) in MOVING and "to" in ev.new.slots:
        # "Is in the cellar", "moved its rack to the attic".
        return False
    placed = _is_placed(e) and not whole.is_name
    is_kind = is_copular(e.tokens, e.verb_at) and behind in _KIND
    is_kind = is_kind or _is_placed(e) or verb_stem(e) in _MADE
    return placed or (known and (is_kind or (tells_event(e) and not whole.is_name)))


# "Is a barge", "is one of the oldest", "is for guests".
_KIND = words("a an the one for my our his her its their")
_MADE = frozenset(stem(verb) for verb in words("call name build"))


def _is_placed(reading: Reading) -> bool:
    """ "Is in Leith", "stands by the river"."""
    verb = reading.verb_at
    behind = [token.lower for token in reading.tokens[verb + 1 : verb + 2]]
    stands = is_copular(reading.tokens, verb) or reading.tokens[verb].stem in _STANDING
    return stands and not _PLACED.isdisjoint(behind)


_PLACED = words("in at on near next behind beside opposite under above outside inside by")
_STANDING = frozenset(stem(verb) for verb in words("stand lie sit hang"))


def _uses(reading: Reading) -> bool:
    """Whether the statement tells what a thing has, which its part may be another word for."""
    return verb_stem(reading) in _USING


_USING = frozenset(
    stem(verb)
    for verb in words(
        "use have run contain include hold store wear carry feature need put install power "
        "serve host support back cost pay"
    )
)


def _others(ev: Evidence, phrase: PartPhrase) -> list[Word]:
    """What else the statement of the whole names, that the part may be another word for."""
    e, whole = ev.existing, _met(ev, phrase)
    shared = {a.position for a, _ in ev.comparison.shared}
    own = shared | {word.position for word in run_of(e, whole.position, -1)} | {e.verb_at}
    placed = whole.in_subject and (_is_placed(e) or verb_stem(e) == stem("belong"))
    return [
        word
        for word in e.words
        if word.position not in own
        and not (word.in_subject and (word.is_name or is_being(word)))
        and not (word.is_name and e.slots[word.position] == "in")
        and e.slots[word.position] != "from"
        and not (placed and word.position > e.verb_at)
        and word.text.removesuffix("s") not in _TELLING_NOTHING
    ]


_TELLING_NOTHING = words(
    "care charge afraid fond proud responsible summer winter spring autumn night day morning "
    "evening afternoon noon weekend week month year time"
)


def _is_other(phrase: PartPhrase, word: Word) -> bool:
    """Whether a word is known to be for something else than the part."""
    head = phrase.part[-1]
    mine, theirs = lines_of_part(head), lines_of_part(word)
    if mine:
        return not mine & theirs
    return bool(theirs) if is_being(head) else is_being(word)


def _is_same_doing(ev: Evidence, phrase: PartPhrase) -> bool:
    """ "Cleans the hall", "no longer cleans the hall's windows": whether it is done to both."""
    if is_being(phrase.part[-1]):
        return False
    if ev.comparison.oppositions:
        return True
    again = verbs_of(ev.existing, ev.new, ev.comparison)[0]
    return again and not (tells_event(ev.existing) and tells_event(ev.new) and not ev.new.negative)
