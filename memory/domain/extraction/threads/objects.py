"""What an "it", "them" or "there" behind a verb means: "User sails it" tells nothing by itself."""

from __future__ import annotations

import re
from uuid import UUID

from ..language.verbs import is_finite
from ..language.words import (
    ADVERBS,
    DETERMINERS,
    KIN,
    NUMBER_WORDS,
    PEOPLE_NOUNS,
    PREPOSITIONS,
    STOPWORDS,
    WORD,
    word_set,
    words_of,
)
from .mentions import Mention
from .somebody import is_done_to_somebody, may_be_somebody

_OBJECT = re.compile(
    r"^(?P<before>(?:[\w’'-]+\s){1,6}?)(?P<pro>it|them|there|him)\b(?!['’-])(?:\s(?P<after>[\w’'-]+))?"
)
# "find it hard", "made it to Rome", "told them that": no thing is meant, or not by that word alone.
_IDIOMS = word_set(
    """
    find finds found make makes made call calls called take takes keep keeps kept think thinks
    thought tell tells told ask asks asked is are was were isn't wasn't aren't be been let lets
    means says said given put puts leave leaves
    """
)
_FOLLOWS = word_set(
    "when that if how is are was were will has rains snows pours hard easy difficult clear out up "
    "over off together"
)
_OF_NO_USE = word_set(
    """
    lot bit time day week month year morning evening night way kind sort moment while chance
    problem idea end start last next first other same job shift break look care world house home
    weekend weekends hours people name
    """
)
_ENDS = (STOPWORDS | PREPOSITIONS | ADVERBS | DETERMINERS) - {"one", "two"} | word_set(
    "last next called named every yesterday which who"
)
_DET = re.compile(
    r"\b(?P<det>[Aa]n?|[Tt]he|[Mm]y|[Oo]ur|[Tt]heir|[A-ZÀ-Þ][\w-]*['’]s|[Ss]ome|[Ss]everal|[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[Ss]ix|\d{1,3})\s(?=[a-z]|(?<=\b[Aa]\s)[A-Z]|(?<=\b[Aa]n\s)[A-Z])"
)
_PLACED = re.compile(r"\b(?P<prep>in|at|to|near)\s(?P<place>[A-ZÀ-Þ][\w-]+(?:\s[A-ZÀ-Þ][\w-]+)*)")
_PLACES = word_set("in at near on inside behind")
# "at the harbour"
_AT_THING = re.compile(
    r"\b(?P<place>(?:in|at|near)\s(?:the|an?|[A-ZÀ-Þ][\w-]*['’]s)\s(?:[a-z-]+\s)??(?P<noun>[a-z-]+))(?=[.,;!]|$|\sas\s)"
)
_BESIDE_THERE = re.compile(r"\sthere(?:\s(?:too|now|also))?,?(?=\s(?:as|in|at)\s\w)")
_GROUP = re.compile(r"[A-ZÀ-Þ][\w-]+['’]s\s(?:group|family)\s")
# "We" in the third person is none of the things that a sentence is about.
_VOICE = re.compile(
    r"(?:^|(?<=[,;]\s))(?:[Tt]he\steam|[A-ZÀ-Þ][\w-]+['’]s\s(?:group|family))(?=\s[a-z])"
)
_IRREGULAR = word_set("teeth feet children mice geese men women people oxen lice sheep fish")
# "bad teeth", "his boots", "has new boots": several things without "the" or a number, which "them"
# means sooner than what was counted before.
_OTHERS = re.compile(
    rf"\b(?:(?:his|her|its|their|[Hh]as|[Hh]ave|had|got|broke|with)\s(?:[a-z-]+\s)?(?P<plural>[a-z-]+[^\Wsiu]s)"
    rf"|(?P<irregular>{'|'.join(sorted(_IRREGULAR - {'fish', 'sheep'}))}))\b"
)
# "Mr Weiss", "Vera Lindqvist": one who does something, and nothing that "it" could be.
_FULL_NAME = re.compile(r"(?:[A-ZÀ-Þ][\w-]*\.?\s)(?=(?:[A-ZÀ-Þ][\w-]*\s){1,2}[a-z])")
# "Put it mildly" is an idiom, "put it behind the shed" puts a thing there.
_PUT_TO = word_set("in into on onto under behind beside near next between at above inside against")
_MAX_WORDS = 3
_REACH = 2


class Objects:
    """The thing, the things and the place that were named last in a conversation."""

    def __init__(self) -> None:
        self._one: Mention | None = None
        self._several: Mention | None = None
        self._place: Mention | None = None

    def observe(self, *, text: str, source: UUID, turn: int) -> None:
        """Learn what a sentence in the third person is about, persons aside."""
        thing, several = _thing_in(_VOICE.sub(_blank, text))
        if thing and several:
            self._several = Mention(thing, source, turn)
        elif thing:
            self._one = Mention(thing, source, turn)
        if not several and _names_others(text):
            self._several = None
        placed = _PLACED.search(text)
        if placed:
            prep = "in" if placed.group("prep") == "to" else placed.group("prep")
            self._place = Mention(f"{prep} {placed.group('place')}", source, turn)
            return
        at = _AT_THING.search(text)
        if at and at.group("noun") not in _OF_NO_USE:
            place = re.sub(r"\san?\s", " the ", at.group("place"), count=1)
            self._place = Mention(place, source, turn)

    def answered(self, *, name: str, source: UUID, turn: int) -> None:
        """Learn the thing that an answer names; "" for several, or none that "it" could be."""
        if name:
            self._one = Mention(name, source, turn)
        elif self._one and self._one.turn != turn:
            self._one = None

    def resolve(
        self,
        *,
        text: str,
        turn: int,
        owner: str,
        else_thing: Mention | None = None,
        else_somebody: Mention | None = None,
    ) -> tuple[str, list[UUID], bool]:
        """The sentence with its object named, the sources used, and whether one is left open.

        `else_thing` is what the conversation is about, for an "it" that nothing else explains;
        `else_somebody`, people or a body of them, for those who are paid, hired or thanked.
        """
        match = dangling(text=text, owner=owner)
        if match is None:
            return text, [], False
        kinds = {"it": self._one, "them": self._several, "there": self._place}
        mention = kinds.get(match.group("pro"))
        if match.group("pro") == "them" and is_done_to_somebody(before=match.group("before")):
            known = mention is not None and may_be_somebody(name=mention.name)
            mention = mention if known else else_somebody
        if match.group("pro") == "it" and (mention is None or turn - mention.turn > _REACH):
            mention = else_thing
        if mention is None or turn - mention.turn > _REACH or mention.name == "the agent":
            elsewhere = _BESIDE_THERE.search(text) if match.group("pro") == "there" else None
            if elsewhere:
                # "works there as an usher": what they are tells something all the same.
                return text[: elsewhere.start()] + text[elsewhere.end() :], [], False
            return text, [], True
        start, end = match.span("pro")
        return f"{text[:start]}{mention.name}{text[end:]}", [mention.source], False


def _blank(match: re.Match[str]) -> str:
    return "x" * len(match.group())


def dangling(*, text: str, owner: str) -> re.Match[str] | None:
    """Where a pronoun is the first object of a sentence, with nothing before it to mean."""
    match = _OBJECT.match(text)
    if match is None or (match.group("after") or "").lower() in _FOLLOWS:
        return None
    before = match.group("before")
    words = words_of(before)
    understood = words[-1] in {"get", "gets", "got"} and match.group("pro") != "them"
    is_put = words[-1] in {"put", "puts"} and (match.group("after") or "").lower() in _PUT_TO
    if (
        (words[-1] in _IDIOMS and not is_put)
        or understood
        or (match.group("pro") == "there" and words[-1] in {"is", "are", "was"})
    ):
        return None
    if before.lower().startswith("the team "):
        before, words = before[len("the team ") :], words[2:]
    elif group := _GROUP.match(before):
        before = before[group.end() :]
        words = words_of(before)
    elif named := _FULL_NAME.match(before):
        before = before[named.end() :]
        words = words_of(before)
    elif not before[:1].isupper():
        return None
    if match.group("pro") != "there" and any(
        word.removesuffix("'s") not in owner.split()
        for word in before.split()[1:]
        if word[:1].isupper()
    ):
        return None
    if match.group("pro") == "there":
        # Whatever else a verb has, where it is done is left open: "rents a flat there".
        return None if _PLACES & set(words) else match
    for at, word in enumerate(words):
        owned = word in DETERMINERS or word.endswith("'s")
        if owned and at + 1 < len(words) and words[at + 1] not in KIN | PEOPLE_NOUNS | DETERMINERS:
            return None
    return match


def _names_others(text: str) -> bool:
    """Whether a sentence names several things that it neither counts nor calls "the"."""
    return any(
        match["irregular"] or match["plural"] not in KIN | PEOPLE_NOUNS | _OF_NO_USE | ADVERBS
        for match in _OTHERS.finditer(text)
    )


def _thing_in(text: str) -> tuple[str, bool]:
    """The first thing that a sentence names with its owner or as "the …", and whether several."""
    for match in _DET.finditer(text):
        words: list[str] = []
        end = match.end()
        while len(words) < _MAX_WORDS:
            word = WORD.match(text, end)
            named = (
                word is not None and word.group()[0].isupper() and match.group("det") in {"a", "an"}
            )
            if word is None or not (word.group().islower() or named) or word.group() in _ENDS:
                break
            if words and is_finite(word=word.group()):
                break
            words.append(word.group())
            end = word.end() + 1
            if text[word.end() : end] != " ":
                break
        if not words or words[-1] in KIN | PEOPLE_NOUNS | _OF_NO_USE or words[0] in KIN:
            continue
        det = match.group("det")
        owned = det if det.endswith(("'s", "’s")) else "the"
        counted = det.lower() in NUMBER_WORDS.keys() - {"a", "an"} or det[0].isdigit()
        several = counted or det.lower() in {"some", "several"}
        ends = words[-1].endswith("s") and not words[-1].endswith(("ss", "us", "is"))
        plural = ends or words[-1] in _IRREGULAR
        return f"{owned} {' '.join(words)}", several or (plural and det.lower() not in {"a", "an"})
    return "", False
