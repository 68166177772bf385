"""What a clause shows of itself and of its place in the talk, as the names of what holds.

Two linear models read it: whether the clause is kept (`admission`) and of which type the memory
is (`filing`). Nothing here decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..days.moments import FoundDate
from ..fillers import is_ephemeral, says_nothing, tells_too_little
from ..kinds.labels import Label
from ..kinds.procedures import steps_in
from ..language.names import names_in
from ..language.signs import signs_of
from ..language.syntax import has_verb, is_imperative
from ..language.tense import is_past
from ..language.verb_kinds import kind_of, verb_of
from ..language.words import KIN, PEOPLE_NOUNS, PETS, content_words, is_number_word, words_of
from ..meant.acts import Act
from ..threads.dialogue import Unit
from .bearing import bearing
from .information import information

_BEARS = 0.3
_SAYS_SOMETHING = 3
UNANSWERED = "unanswered"
_FIRST = frozenset({"i", "i'm", "i've", "i'd", "i'll"})
_WE = frozenset({"we", "we're", "we've", "we'd", "we'll"})
_THEY = frozenset({"they", "they're", "they've", "they'd", "they'll"})
_ONE = frozenset({"he", "she", "he's", "she's", "he'd", "she'd", "he'll", "she'll"})
_IT = frozenset({"it", "it's", "it'd", "it'll"})
_POINTS = frozenset({"that", "this", "these", "those", "that's", "that'll", "which"})
_YOU = frozenset({"you", "you're", "you've", "you'd", "you'll"})
_THERE = frozenset({"there", "there's", "there're", "here", "here's"})
_SOME = frozenset(
    {"someone", "somebody", "something", "anyone", "anything", "people", "nothing", "everything",
     "one", "some"}
)  # fmt: skip
_NONE = frozenset({"nobody", "none", "no", "everyone", "everybody", "all", "both", "each", "every"})
_OWNING = frozenset({"my", "our"})
_THEIRS = frozenset({"his", "her", "their", "its"})
_ARTICLES = frozenset({"the", "a", "an"})
_CONDITIONS = frozenset({"if", "when", "whenever", "once", "unless", "until", "before", "after"})
_LEADS = frozenset({"and", "but", "so", "also", "then", "well", "because", "since", "though"})
_FUTURE = re.compile(
    r"\b(?:will|won['’]t|shall|going\sto|gonna)\b|['’]ll\b|\b(?:am|is|are|['’]m|['’]s|['’]re)\s(?:\w+ing)\b"
    r"(?=.*\b(?:tomorrow|next|on\s\w+day|tonight|soon|in\s\w+\s(?:days|weeks|months)))",
    re.IGNORECASE,
)
_PERFECT = re.compile(r"\b(?:have|has|hasn['’]t|haven['’]t)\s\w+|['’]ve\s\w+", re.IGNORECASE)
_GOING_ON = re.compile(r"(?:\b(?:am|is|are|be)|['’](?:m|s|re))\s(?:\w+\s)?\w+ing\b", re.IGNORECASE)
_WORD = re.compile(r"\w{2,}")


@dataclass(frozen=True, slots=True)
class Heard:
    """A clause as it was heard: in its speaker's words, as it is told, and how it is filed.

    `joined` says that an earlier message lends it something, such as the question it answers;
    `leftover`, that the second pass reads it.
    """

    unit: Unit
    clause: str
    told: str
    label: Label
    dates: tuple[FoundDate, ...]
    act: Act
    joined: bool = False
    leftover: bool = False


def evidence(heard: Heard) -> tuple[str, ...]:
    """The names of all that holds of a clause, "always" among them, each once."""
    words = words_of(heard.clause)
    names = [name for name in names_in(heard.told) if name != heard.unit.voice.name]
    found = ["always", *_grammar(heard, words), *_substance(heard, words, names)]
    found += _place(heard)
    found += [f"sign {sign}" for sign in signs_of(text=heard.clause)]
    held = set(found)
    found += [f"{a} & {b}" for a, b in _PAIRS if a in held and b in held]
    return tuple(dict.fromkeys(found))


_PAIRS = (
    ("subject I", "past"), ("subject I", "present"), ("subject we", "past"),
    ("subject we", "present"), ("subject name", "past"), ("subject name", "present"),
    ("subject it", "present"), ("subject it", "past"), ("subject thing", "past"),
    ("subject thing", "present"), ("subject owned", "present"), ("subject owned", "past"),
    ("dated", "past"), ("dated", "present"), ("dated", "future"), ("no name", "no figure"),
    ("subject I", "going on"), ("subject he", "past"), ("subject he", "present"),
    ("no echo", "no name"), ("no echo", "no figure"), ("few words", "no name"),
)  # fmt: skip


def subject_of(words: list[str]) -> str:
    """What kind of word a clause begins with, its conjunctions aside."""
    rest = words
    while rest and rest[0] in _LEADS and len(rest) > 1:
        rest = rest[1:]
    head = rest[0] if rest else ""
    for kind, members in (
        ("I", _FIRST), ("we", _WE), ("he", _ONE), ("they", _THEY), ("it", _IT), ("that", _POINTS),
        ("you", _YOU), ("there", _THERE), ("some", _SOME), ("none", _NONE), ("owned", _OWNING),
        ("theirs", _THEIRS), ("thing", _ARTICLES), ("condition", _CONDITIONS),
    ):  # fmt: skip
        if head in members:
            return kind
    return "other"


def _grammar(heard: Heard, words: list[str]) -> Iterator[str]:
    clause = heard.clause
    subject = subject_of(words)
    if subject == "other":
        first = names_in(clause)[:1]
        named = bool(first) and clause.find(first[0]) < 3
        subject = "name" if named else "command" if is_imperative(text=clause) else "other"
    yield f"subject {subject}"
    past = is_past(text=clause)
    if past:
        yield "past"
    elif _FUTURE.search(clause):
        yield "future"
    else:
        yield "present" if has_verb(text=clause) else "verbless"
    if _PERFECT.search(clause):
        yield "perfect"
    if _GOING_ON.search(clause):
        yield "going on"
    verb = verb_of(words=words)
    yield f"verb {kind_of(base=verb)}"
    yield f"act {heard.act.value}"
    if steps_in(text=clause) > 1:
        yield "steps"


def _substance(heard: Heard, words: list[str], names: list[str]) -> Iterator[str]:
    content = content_words(heard.clause)
    yield "no name" if not names else "name" if len(names) == 1 else "names"
    figures = sum(word[0].isdigit() or _counts(word) for word in words)
    yield "no figure" if not figures else "figure" if figures == 1 else "figures"
    if heard.dates:
        yield "dated"
        yield from {f"date {found.precision.value}" for found in heard.dates}
    if (KIN | PETS) & set(words):
        yield "kin"
    if (PEOPLE_NOUNS - KIN) & set(words):
        yield "role"
    size = len(content)
    yield (
        "few words" if size < 3 else "some words" if size < 5 else "words" if size < 9 else
        "many words"
    )  # fmt: skip
    told = information(text=heard.clause)
    yield "tells little" if told < 2 else "tells some" if told < 4 else "tells much"
    yield f"filed {heard.label.attribute or heard.label.category}"
    if heard.label.memory_type:
        yield f"type {heard.label.memory_type.value}"
    weight = bearing(
        clause=heard.clause, told=heard.told, owner=heard.unit.voice.name, dates=heard.dates
    )
    yield f"bearing {min(4, max(-3, round(weight)))}"
    yield "bears" if weight >= _BEARS else "bears little"
    if says_nothing(text=heard.clause):
        yield "says nothing"
    if tells_too_little(clause=heard.clause):
        yield "tells too little"
    if is_ephemeral(clause=heard.clause):
        yield "ephemeral"


def _counts(word: str) -> bool:
    return is_number_word(word)


def _place(heard: Heard) -> Iterator[str]:
    unit = heard.unit
    informative = len(content_words(unit.reply)) >= _SAYS_SOMETHING
    yield "first sentence" if not unit.place else "later sentence"
    if unit.question:
        yield "asked first" if not unit.place else "asked"
    if heard.joined:
        yield "joined"
    if heard.leftover:
        yield "leftover"
    if not informative:
        # "Ok." echoes nothing, whatever was said.
        yield UNANSWERED
        return
    said = set(_WORD.findall(unit.reply.lower()))
    content = {word for word in content_words(heard.clause) if len(word) > 2 or word[0].isdigit()}
    echoed = {word for word in content if word in said or word.rstrip("s") in said}
    figure = any(word[0].isdigit() for word in echoed)
    if not echoed:
        yield "no echo"
    elif figure:
        yield "echo of a figure"
    else:
        yield "echo" if len(echoed) == 1 else "echoes"
