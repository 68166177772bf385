"""Parts and belongings in a statement: "the X's P", "the P of the X", "a window in the X"."""

from __future__ import annotations

from typing import NamedTuple

from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.lexicon import Table
from ..reading.slots import OBJECT, SUBJECT, is_copular
from ..reading.tables import words
from ..reading.tokens import stem
from .of_its_object import BEINGS
from .parts import CHANGING, lines_of_part


class PartPhrase(NamedTuple):
    """The nouns of a part, its head last, and what it is told to be of."""

    part: tuple[Word, ...]
    owner: Word


@kept_by_reading
def part_phrases(reading: Reading) -> tuple[PartPhrase, ...]:
    """ "The X's P", "the P of the X", "a window in the X", "the X tyres", where P is told of."""
    found: list[PartPhrase] = []
    verb = verb_stem(reading)
    for i in range(reading.start + 1, len(reading.tokens)):
        lower = reading.tokens[i].lower
        part: tuple[Word, ...] = ()
        owner: tuple[Word, ...] = ()
        if i == reading.head or not _is_told(reading, i):
            continue
        if lower == "'s":
            part, owner = run_of(reading, i + 1, 1), run_of(reading, i - 1, -1)
        elif lower in _LINKS:
            part, owner = run_of(reading, i - 1, -1), _behind(reading, i + 1)
            known = bool(part) and verb in CHANGING | _FITTING and bool(lines_of_part(part[-1]))
            part = part if known or (lower == "of" and _is_definite(reading, part)) else ()
        else:
            run = run_of(reading, i, -1)
            ends = bool(run) and run[-1].position == i and len(run_of(reading, i, 1)) == 1
            # "The dogs' bowls" is read without its mark.
            plural = len(run) > 1 and run[-2].text.endswith("s") and not run[-2].is_name
            named = plural or (bool(run) and _is_thing_or_being(run[-1]))
            if ends and named and _is_definite(reading, run):
                part, owner = run[-1:], run[:-1]
        if part and owner and not _is_called(reading, part[-1], verb):
            found.append(PartPhrase(part, owner[-1]))
    return tuple(found)


def _is_told(reading: Reading, at: int) -> bool:
    """Whether it is subject or object: "replaced X", "looks after X"; not "moved to X"."""
    slot = reading.slots[at - (reading.tokens[at].lower in _LINKS)]
    behind = {token.lower for token in reading.tokens[reading.verb_at + 1 :][:1]}
    return slot in {SUBJECT, OBJECT} or slot in behind - _GOALS


_GOALS = words("to into")


def _is_definite(reading: Reading, run: tuple[Word, ...]) -> bool:
    """Whether a known one is meant: "the lock", "its old lock"; not "a word"."""
    before = run[0].position - 1 if run else -1
    while before > 0 and reading.tokens[before].lower in _PLAIN:
        before -= 1
    return before >= 0 and reading.tokens[before].lower in _DEFINITE


def verb_stem(reading: Reading) -> str:
    """The stem of the main verb, or ""."""
    return reading.tokens[reading.verb_at].stem if reading.verb_at < len(reading.tokens) else ""


_LINKS = words("of in on from to into")
_FITTING = frozenset(stem(verb) for verb in words("put fit install add mount lay hang attach"))
_DEFINITE = words("the my our his her its their your this that 's")
DETERMINERS = _DEFINITE | words("a an")
_PLAIN = words("old new whole")
_BECOMING = frozenset(
    stem(verb) for verb in words("become remain make appoint name elect call stay turn")
)


def _is_called(reading: Reading, part: Word, verb: str) -> bool:
    """ "Is the bakery's cook", "became its owner": what somebody is to it, and no part of it."""
    behind = part.position > reading.verb_at
    return behind and (verb in _BECOMING or is_copular(reading.tokens, reading.verb_at))


def run_of(reading: Reading, at: int, step: int) -> tuple[Word, ...]:
    """The content words from a place on, one beside the other, from left to right."""
    said = {word.position: word for word in reading.words if not word.text.endswith("ly")}
    counted = {i for each in reading.quantities for i in range(each.start, each.end)}
    run: list[Word] = []
    while (at in said or at in counted) and at != reading.verb_at:
        if at in said:
            run.append(said[at])
        at += step
    return tuple(run[::step])


def _behind(reading: Reading, at: int) -> tuple[Word, ...]:
    """The thing named from a place on: "the old bakery", "Bella"; not "the post of head chef"."""
    while at < len(reading.tokens) and reading.tokens[at].lower in _DEFINITE | _PLAIN:
        at += 1
    run = run_of(reading, at, 1)
    return run if run and (run[0].is_name or _is_definite(reading, run)) else ()


def is_being(word: Word) -> bool:
    """Whether the word is for somebody or an animal: "sister", "dogs"."""
    return not BEINGS.isdisjoint({word.text, word.text.removesuffix("s")})


def _is_thing_or_being(word: Word) -> bool:
    return bool(lines_of_part(word)) or is_being(word)


def is_attribute(reading: Reading, word: Word) -> bool:
    """Whether the word is for a value of a thing and no piece of it: "its price"."""
    if word.text in _ATTRIBUTES or word.text.removesuffix("s") in _ATTRIBUTES:
        return True
    return any(mark.start <= word.position < mark.end for mark in reading.of(Table.ATTRIBUTE))


# What a thing has one of: its value may be what is told of the thing itself.
_ATTRIBUTES = words(
    "number code address name title id date time day hour size colour color rate fee price cost "
    "limit budget type kind model level place position site seat headquarters hq office premises "
    "base home language deadline schedule timetable shift status state version edition value "
    "setting provider supplier host content stock member crew staff"
)


def is_hold(reading: Reading, phrase: PartPhrase) -> bool:
    """Whether that is the hold somebody has of the whole, or a share of it: "its lease"."""
    noun = phrase.part[-1].text.removesuffix("s")
    return noun in _HOLDS or (noun == "key" and verb_stem(reading) in _HANDING)


_HANDING = frozenset(stem(verb) for verb in words("hand give return surrender pass get receive"))
_HOLDS = words(
    "lease rent tenancy licence license subscription contract membership ownership management "
    "control running operation leadership post role job custody care possession use usage sale "
    "purchase share half rest part majority quarter third all most version copy edition marriage "
    "divorce death birth deed title right hold command direction presidency chair production "
    "publication business existence activity funding intake building land premises estate"
)
