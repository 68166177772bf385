"""A noun that many things have one of: "his locker is number 14", "his new phone number is 0151".

Which number, code or address it is, the word before it says, or the thing that it is given to.
"""

from __future__ import annotations

from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.slots import is_copular
from ..reading.tables import words
from ..reading.tokens import stem
from .aligning import root
from .change_words import FILLERS
from .evidence import Evidence
from .nouns import head_noun

_SHARED_NOUNS = frozenset(
    stem(noun)
    for noun in words(
        "number no code address name id pin password key date time day size colour color rate fee "
        "price cost limit budget account card plan level type model version email mail title "
        "place position seat room floor language deadline schedule shift class grade score team"
    )
)
# Of things there may be a second one beside the first; of these there is one at a time.
_VALUES = frozenset(
    stem(noun)
    for noun in words(
        "number no code address name id pin password date time day size colour color rate fee "
        "price cost limit budget email mail title place language deadline schedule"
    )
)
_ALIKE = (
    words("rate fee price cost budget limit"),
    words("date time day deadline schedule"),
    words("name title"),
    words("number no code id pin"),
    words("email mail address place"),
)
_TELLING_NOTHING = FILLERS | words(
    "old own personal main only same whole full actual exact correct right own usual regular "
    "official latest first second next last whose user team company another other previous"
)
# What is known to be one thing under several words.
_ONE = (
    words("phone mobile cell telephone handy cellphone contact"),
    words("email mail e-mail"),
    words("home private house residential postal"),
    words("work office business job professional"),
)


def whose_other(ev: Evidence) -> str:
    """The two things that the same noun is told of ("locker / phone number"), or ""."""
    c = ev.comparison
    if ev.signals.correction or ev.same_path:
        return ""
    first, second = _owners(ev.existing), _owners(ev.new)
    if first is None or second is None:
        return ""
    if first[0] != second[0]:
        return _other_value(ev)
    mine, theirs = first[1], second[1]
    if not mine or not theirs or any(_is_one(a, b) for a in mine for b in theirs):
        return ""
    if any(a in mine and b in theirs for a, b in c.shared):
        return ""
    return f"different things: {mine[-1].text} / {theirs[-1].text} {second[0]}"


def renewed_value(ev: Evidence) -> str:
    """ "The door code is 1234", "the new door code is 4410": of one at a time, the new one."""
    e, n, c = ev.existing, ev.new, ev.comparison
    first, second = head_noun(e), head_noun(n)
    if first is None or second is None or second.stem not in _VALUES or e.negative:
        return ""
    new = next((word for word in c.left_new if word.in_subject and word.text in _RENEWED), None)
    if new is None or not _RENEWED.isdisjoint(e.lowers) or (first, second) not in c.shared:
        return ""
    others = [w for w in (*c.left_existing, *c.left_new) if w.in_subject and w is not new]
    copulas = is_copular(e.tokens, e.verb_at) and is_copular(n.tokens, n.verb_at)
    same = copulas and not others and n.tokens[n.verb_at].lower not in _WAS
    return f"{new.text} {n.tokens[new.position + 1].text}" if same else ""


def _other_value(ev: Evidence) -> str:
    """ "The team size", "the team name": two values of one thing."""
    mine, theirs = head_noun(ev.existing), head_noun(ev.new)
    if not ev.renewed or mine is None or theirs is None:
        return ""
    if not {mine.stem, theirs.stem} <= _VALUES:
        return ""
    if mine.groups & theirs.groups or any({mine.text, theirs.text} <= each for each in _ALIKE):
        return ""
    return f"different things: {mine.text} / {theirs.text}"


_RENEWED = words("new revised updated")
_WAS = words("was were")


def _is_one(a: Word, b: Word) -> bool:
    known = any(a.text in each and b.text in each for each in _ONE)
    return known or root(a.stem) == root(b.stem) or bool(a.groups & b.groups)


@kept_by_reading
def _owners(reading: Reading) -> tuple[str, tuple[Word, ...]] | None:
    """The shared noun that a statement gives a value of, with the words that say which it is."""
    noun = head_noun(reading)
    if noun is None or noun.is_name:
        return None
    inside = tuple(
        word
        for word in reading.words
        if word.in_subject and not word.is_name and word.text not in _TELLING_NOTHING
    )
    label = _label(reading)
    if label:
        # "The locker is number 14".
        return label, inside
    if noun.stem not in _SHARED_NOUNS:
        return None
    return noun.stem, tuple(word for word in inside if word != noun)


def _label(reading: Reading) -> str:
    """The shared noun that stands before a number as what is told of the subject, or ""."""
    verb, tokens = reading.verb_at, reading.tokens
    if not is_copular(tokens, verb):
        return ""
    for i in range(verb + 1, min(verb + 4, len(tokens) - 1)):
        if tokens[i].stem in _SHARED_NOUNS:
            is_valued = any(character.isdigit() for character in tokens[i + 1].text)
            return tokens[i].stem if is_valued else ""
    return ""
