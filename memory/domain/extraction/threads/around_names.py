"""What the words before a name make of it: a place, a thing, or somebody to have to do with."""

from __future__ import annotations

import re

from ..language.words import PEOPLE_NOUNS, PETS, word_set, words_of
from .somebody import is_done_to_somebody

PLACE_PREPOSITIONS = word_set(
    "in at outside on to near into via of inside within across through over under around"
)
BESIDE = word_set("to at from with for by of than like in on near into joining left leaving")
# What somebody quits, buys or uses is no person, nor is what is called by its owner's "my".
OF_THINGS = word_set(
    "quit quits join joins joined leave leaves left buy buys bought use uses used drive drives "
    "drove sell sells sold rent rents own owns install installed visit visits visited founded the "
    "a an my our his her their your"
)
# But people who have a known name are left and visited.
_OF_PEOPLE = word_set(
    "quit quits join joins joined leave leaves left own owns visit visits visited founded my our "
    "his her their your"
)
# "moved to Victoria" may be a place, "talked to Victoria" is none.
_GOES_TO = re.compile(
    r"\b(?:go|goes|going|gone|went|move[sd]?|moving|fl(?:y|ies|ew|ying|own)|dr(?:ive|ives|ove|iving|iven)|"
    r"travel\w*|trip|come|comes|came|coming|back|return\w*|relocat\w*|way|close|next|train|bus|road|"
    r"commut\w*|walk\w*|cycle[sd]?|ran|runs?|head(?:s|ed|ing)?)\sto\s$",
    re.IGNORECASE,
)
# "gave it to Mina": somebody, or a firm, and hardly a place.
_HANDS_TO = re.compile(
    r"\b(?:g[ai]ve\w*|hand\w*|sold|sells?|lent|lends?|show\w*|introduc\w*|pass\w*|said|wrote|"
    r"writes?|spoke|speaks?|talk\w*|explain\w*|offer\w*|promis\w*|engaged|married|apologi\w*|taught|teach\w*)\b"
    r"[^.;,]{0,40}?\sto\s$",
    re.IGNORECASE,
)
HIRING = word_set("hired hires employs employed signed recruited fired promoted")
# Whom somebody only has to do with, though nothing else tells that the name is a person's.
_MEETING = re.compile(
    r"\b(?:met|meets|beat|beats|helped|helps|introduced|replaced|replaces|mentors|mentored|trains|"
    r"trained|promoted|promotes|and|or)\s$",
    re.IGNORECASE,
)
# "is from Malta", "a tutor from Vietnam": where somebody comes from is nobody.
_ORIGIN = re.compile(
    r"(?:['’]s|\b(?:is|are|was|were|comes?|came|originally|hails?|arrived|moved|over|back|here|"
    rf"girl|boy|guy|woman|man|lady|people|{'|'.join(sorted(PEOPLE_NOUNS | PETS))}))"
    r"\sfrom\s(?:the\s)?$",
    re.IGNORECASE,
)


def is_origin(*, before: str) -> bool:
    """Whether the words before a name make it the place that somebody comes from."""
    return bool(_ORIGIN.search(before))


def is_handed_to(*, before: str) -> bool:
    """Whether the words before a name make it somebody whom something is given, said or sold to."""
    return bool(_HANDS_TO.search(before))


def is_met(*, before: str) -> bool:
    """Whether the words before a name make it somebody whom somebody else has to do with."""
    return is_done_to_somebody(before=before) or bool(_MEETING.search(before))


def is_placed(*, before: str) -> bool:
    """Whether a known given name stands behind these words as a place or a thing would."""
    placed = set(words_of(before)[-1:]) & (PLACE_PREPOSITIONS | OF_THINGS - _OF_PEOPLE)
    return bool(placed - {"to"} if not _GOES_TO.search(before) else placed)
