"""What is told in confidence: which messages say so, and to which others that extends."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from memory.domain.text.stop_words import STOP_WORDS, word_set

# General means of asking for silence, each a regular expression over lower-case text.
_WHOM = (
    r"(?:any(?:one|body)|no(?:body| one)|every(?:one|body)|people|a soul|(?:the |any )?others?"
    r"|(?:the|my|our|your|his|her|their) \w+|him|her|them"
    r"|[a-z]\w+(?= (?:about|that|this|yet|please|didn't|did not)))"
)
_NOT = (
    r"(?:don't|do not|dont|never|won't|wouldn't|mustn't|must not|shouldn't|should not|please not"
    r"|not to)"
)
_IT = r"(?:this|that|it|these|those|what i (?:said|say|tell you|told you))"
PHRASES = (
    r"between (?:us|you and (?:me|i)|the two of us|ourselves)",
    r"in (?:strict(?:est)? |the strictest |full )?confidence",
    r"confidentially|strictly (?:confidential|private|personal)",
    rf"(?:{_IT} is|that's|it's|keep {_IT}|stays?|remains?|treat {_IT} as) (?:\w+ )?"
    r"(?:confidential|private|secret|a secret|under wraps)",
    r"off the record|for your (?:ears|eyes) only|(?:not|nothing) a word to|mum's the word",
    r"(?:is|it's|that's|stays?|remains?) (?:my|our|a) (?:\w+ )?secret|under wraps|hush-hush",
    rf"keep {_IT} (?:\w+ )?(?:to yourself|to yourselves|quiet|from \w+|out of|in here|here)",
    r"keep (?:quiet|silent|mum) about",
    rf"(?:{_IT}) (?:stays|remains) (?:\w+ )?(?:with you|here|in here|in this)",
    rf"{_NOT} (?:\w+ )?tell {_WHOM}",
    rf"{_NOT} (?:\w+ )?(?:mention|share|repeat|spread|reveal|disclose|leak|forward|discuss) "
    rf"(?:any of )?{_IT}",
    rf"{_NOT} (?:\w+ )?(?:pass|let) {_IT} (?:on|slip|out|get out|go further|go any further)",
    rf"{_NOT} (?:\w+ )?(?:say|breathe) (?:anything|a word|{_IT})(?: of {_IT})? "
    r"(?:to|about|in front)",
    r"(?:nobody|no one|none of (?:them|the others|my \w+)) (?:else )?(?:knows|must know|should know"
    r"|may know|needs? to know|is (?:supposed|meant) to know|can know|has been told)",
    rf"i (?:haven't|have not|hadn't|didn't|did not) (?:\w+ )?(?:told|tell) {_WHOM}",
    r"(?:tell|telling) (?:nobody|no one|not a soul)",
    rf"(?:rather|prefer(?:red)?(?: that| if)?) (?:\w+ )?{_WHOM} (?:didn't|did not|don't|not) "
    r"(?:know|hear|find out|learn|see)",
    r"(?:only you|you alone|you(?:'re| are) the only (?:one|person)) (?:who )?"
    r"(?:know|knows|i(?:'ve)? told)",
    r"without (?:the others|anyone|anybody|them|him|her|my \w+|our \w+) (?:knowing|finding out)",
    rf"(?:mustn't|must not|shouldn't|should not|can't|cannot|not supposed to) "
    rf"(?:find out|hear (?:about )?{_IT}|know (?:about )?{_IT}|learn (?:of|about) {_IT})",
)
_CONFIDENCE = re.compile(rf"\b(?:{'|'.join(PHRASES)})(?!\w)")
# What announces that something is going to be told.
_AHEAD = re.compile(r"\?|\b(?:something|tell you|ask you|show you|what i(?:'m| am)|following)\b")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# A message with no more words of its own beside the phrase says of another that it is secret.
_FEW_WORDS = 2
_POLITE = word_set(
    "please keep ok okay sure thanks thank hey hi well yes let's lets promise don't want really"
    " else tell told say knows know yet"
)


@dataclass(frozen=True, slots=True)
class Said:
    """A message as it is told who said it: its key, its text, and whether a person said it."""

    key: Hashable
    text: str
    is_persons: bool


def asks_for_silence(text: str) -> bool:
    """Whether the words ask to keep what is said from others."""
    return _CONFIDENCE.search(_plain(text)) is not None


def confided(messages: Sequence[Said]) -> set[Hashable]:
    """The keys of those messages, in their order, that are told in confidence.

    A person's message that asks for silence is. One that says little else speaks of another: of
    the person's next message where it announces something, else of the last one before. What an
    agent answers to a confidence, up to the person's next message, belongs to it.
    """
    persons = [place for place, each in enumerate(messages) if each.is_persons]
    found: set[int] = set()
    for at, place in enumerate(persons):
        text = _plain(messages[place].text)
        if _CONFIDENCE.search(text) is None:
            continue
        found.add(place)
        if not _says_little_else(text):
            continue
        other = at + 1 if _AHEAD.search(text) else at - 1
        if 0 <= other < len(persons):
            found.add(persons[other])
    is_answer = False
    for place, each in enumerate(messages):
        is_answer = place in found if each.is_persons else is_answer
        if is_answer:
            found.add(place)
    return {messages[place].key for place in found}


def _plain(text: str) -> str:
    return " ".join(text.replace("’", "'").lower().split())


def _says_little_else(text: str) -> bool:
    rest = _WORD.findall(_CONFIDENCE.sub(" ", text))
    return sum(word not in STOP_WORDS and word not in _POLITE for word in rest) <= _FEW_WORDS
