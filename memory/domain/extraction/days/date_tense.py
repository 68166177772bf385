"""Which way a date without a year points: the tense of the verb that it goes with."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...number_words import ORDINALS
from ..language.verbs import AMBIGUOUS, BASES, GERUNDS, PARTICIPLES, THIRD, UNMARKED, is_past_form
from ..language.words import (
    ADVERBS,
    DETERMINERS,
    MONTHS,
    NUMBER_WORDS,
    PREPOSITIONS,
    word_set,
    words_of,
)

# "she'll have the export fixed by the 27th"
_WILL_HAVE = re.compile(r"(?:'ll|\bwill|\bgoing\sto)\s(?:have|get|be)\b")
_SCHEDULED = word_set(
    "starts begins opens reopens ends closes expires launches arrives leaves joins comes returns "
    "retires takes goes runs moves slips lasts resumes finishes renews changes lapses"
)
# "It has been ordered, delivery Friday."
_TO_COME = word_set("delivery arrival pickup pick-up departure due deadline collection")
_SUBJECTS = word_set("i we you they he she it who which that team family")
_SINGULAR = word_set("he she it nobody everyone everybody somebody someone")
_RELATIVE = frozenset({"who", "which", "that"})
_PRESENT_BE = word_set("be is are am get gets getting being")
_PAST_AUXILIARIES = word_set("was were did had been born didn't wasn't")
_PRESENT_AUXILIARIES = word_set("will is are must has have can should won't shall")
_AHEAD = word_set("will to shall must should can let")
_OBJECTS = DETERMINERS | word_set("me him us them it you up off out down")
_PARTICLES = word_set("over up out off away back down")
_JOINS = frozenset({"and", "or", "but", "then"})
_CONTRACTED_BE = word_set(
    "it's he's she's that's there's here's what's when's they're we're i'm you're who's"
)
# "They called: viewing on": an appointment with no verb of its own.
_APPOINTED = re.compile(
    r"[,:;–—-]\s(?:so\s|and\s)?(?:(?:the|my|our|his|her|their|a|an|next|new|first|second|final)\s){0,2}"
    r"(?:[a-z]+\s)?(?:viewing|appointment|interview|exam|meeting|party|check-?up|inspection|handover|"
    r"surgery|operation|funeral|wedding|rehearsal|lesson|session|call|visit|flight|demo|trial|match|"
    r"deadline|delivery|collection|pickup)(?:\s(?:at|in)\s(?:the\s)?[\w-]+)?\s(?:on\s|at\s)?$",
    re.IGNORECASE,
)
# "I've got a rehearsal on": what one has got lies ahead, where it is something to go to.
_HAS_GOT_ON = re.compile(
    r"(?:\b(?:have|has)|['’](?:ve|s))\s(?:also\s|already\s|still\s|now\s)?got\s"
    r"(?:an?|another|two|three|my|our|his|her|their)\s(?:[\w’'-]+\s){0,3}?"
    r"(?:appointments?|rehearsals?|meetings?|match|matches|games?|exams?|tests?|interviews?|lessons?|classes|"
    r"concerts?|gigs?|shows?|viewings?|hearings?|sessions?|workshops?|trainings?|part(?:y|ies)|weddings?|"
    r"funerals?|flights?|operations?|surgery|check-?ups?|inspections?|races?|tournaments?|auditions?|"
    r"conferences?|seminars?|webinars?|demos?|deadlines?|shifts?|trials?|visits?|consultations?|reviews?)\b"
    r"(?!\s(?:results?|from)\b)(?:\s(?!(?:was|were|did|had|that|which|who)\b)[\w’'-]+){0,6}\s$",
    re.IGNORECASE,
)
# "wrote that the rent rises to 1,140 on": the verb of what was said, though it may be a noun too.
_SAID_THAT = re.compile(
    r"\b(?:wrote|said|announced|says|writes|told\s\w+(?:\s\w+)?|informed\s\w+(?:\s\w+)?|confirmed|mailed|explained)\sthat\s"
    r"(?:the|my|our|his|her|their|a|an|[A-Z][\w-]*['’]s)\s(?:(?!\w+(?:ed|s)\s)[\w’'-]+\s){1,3}(?P<verb>[a-z]+s)\s"
    r"(?:(?:by|to|from|up|down)\s(?:(?!\w+ed\b)[\w.,%€$£-]+\s){0,5})?$"
)
_NO_SUBJECTS = _JOINS | _AHEAD | DETERMINERS
_OF_A_DATE = re.compile(r"\d{1,4}(?:st|nd|rd|th)?")


def is_past_at(*, before: str, past: bool) -> bool | None:
    """Whether the verb that a date goes with is past; `past` is what its sentence is.

    None where the verb looks the same in both tenses ("they cut my hours in").
    """
    words = words_of(before[-80:])
    if (words and words[-1] in _TO_COME) or _APPOINTED.search(before):
        return False
    if _HAS_GOT_ON.search(before):
        return False
    said = _SAID_THAT.search(before)
    if said and said["verb"] in THIRD:
        return False
    for index in range(_end_of_own_clause(words, before) - 1, -1, -1):
        found = _tense(words, index, before)
        if found is not None:
            return found
        if words[index] in UNMARKED and index:
            previous = words[_before_adverbs(words, index)]
            if previous in _SINGULAR or _only_past(words, index):
                return True
            is_subject = previous in _SUBJECTS or _named_before(before, words[index])
            if is_subject or (words[index] not in AMBIGUOUS and previous not in _NO_SUBJECTS):
                return None
    return past


def _end_of_own_clause(words: Sequence[str], before: str) -> int:
    """Where the verb is looked for: before a relative clause that has a date of its own.

    "I return the laptop they lent me in March by": the lending was in March.
    """
    end = tail = len(words)
    tail -= bool(words and words[-1] in PREPOSITIONS)
    while tail and (_OF_A_DATE.fullmatch(words[tail - 1]) or words[tail - 1] in MONTHS):
        tail -= 1
    if tail >= end - 1 or words[tail - 1 : tail] in (["from"], ["between"]):
        return end
    for index in range(tail - 1, 2, -1):
        if words[index] in _JOINS:
            return end
        if is_past_form(word=words[index]):
            is_told = words[index - 1] in _SUBJECTS or _named_before(before, words[index])
            return index - 1 if is_told and words[index - 2] not in _JOINS | BASES else end
    return end


def _tense(words: Sequence[str], index: int, before: str) -> bool | None:
    """Whether a word is a past or a present verb, or None where it tells nothing."""
    word = words[index]
    at = _before_adverbs(words, index)
    previous = words[at] if at >= 0 else ""
    if word == "says" and words[index + 1 : index + 2] == ["that"]:
        return None
    if is_past_form(word=word) and word not in _PAST_AUXILIARIES:
        counts = previous in NUMBER_WORDS.keys() - {"a", "an"} or previous in {
            "some",
            "most",
            "both",
        }
        followed = {*words[index + 1 :]} <= PREPOSITIONS
        if counts and not at and followed:
            # "Two failed in February"
            return True
        if previous in ORDINALS or previous in DETERMINERS - _RELATIVE:
            return None
        if previous in _PRESENT_BE or previous.endswith(("'re", "'m")):
            return _of_be(words, at) is True
        return not _WILL_HAVE.search(" ".join(words[max(0, index - 8) : index]))
    if word in GERUNDS and at >= 0 and _of_be(words, at) is not None:
        return _of_be(words, at)
    if _is_contracted_be(words, index):
        return False
    plain = word in BASES and word not in UNMARKED
    is_third = word in THIRD or (previous in _RELATIVE and _is_plural(word))
    is_noun = previous in {"team", "family"} and words[at - 1 : at] in (["a"], ["an"])
    if (
        previous in _SUBJECTS
        and not is_noun
        and (is_third or (plain and previous not in _SINGULAR))
    ):
        return False
    if previous in _JOINS and _is_joined_verb(words, index):
        return False
    if plain and _is_plural(previous) and (word not in AMBIGUOUS or word + "s" in _SCHEDULED):
        return False
    if word in THIRD and (THIRD[word] not in AMBIGUOUS or _named_before(before, word)):
        return False
    if word in _SCHEDULED and (not index or words[index - 1] not in DETERMINERS - {"one"}):
        return False
    if word in _PAST_AUXILIARIES:
        return True
    if word == "to" and index + 1 < len(words) and words[index + 1] in BASES:
        return False
    if word in _PRESENT_AUXILIARIES or word.endswith("'ll"):
        return False
    return None


def _only_past(words: Sequence[str], index: int) -> bool:
    """ "The technician set it up": in the present the verb of one would have its ending."""
    at = _before_adverbs(words, index)
    is_one = at > 0 and words[at - 1] in DETERMINERS - _RELATIVE and not _is_plural(words[at])
    after = words[index + 1 : index + 2]
    is_body = words[at] in {"team", "family", "group"}
    return is_one and not is_body and bool(after) and after[0] in _OBJECTS


def _is_contracted_be(words: Sequence[str], index: int) -> bool:
    """Whether a word is "it's" or "the viewing's" with a date to come: "it's on Monday".

    "It's been" is none, nor is whose place it is ("at the dentist's on Monday").
    """
    word, rest = words[index], words[index + 1 :]
    following = next((each for each in rest if each not in ADVERBS), "")
    if word in _CONTRACTED_BE:
        is_done = following in PARTICIPLES and following not in BASES
        return not is_done and following not in {"been", "got"}
    if not word.endswith("'s") or not {*rest} <= PREPOSITIONS | ADVERBS | {"the"}:
        return False
    for before in reversed(words[max(0, index - 3) : index]):
        if before in _JOINS:
            return True
        if before in PREPOSITIONS - {"of"}:
            return False
    return True


def _before_adverbs(words: Sequence[str], index: int) -> int:
    """The place of the nearest word to the left that is no adverb, or -1."""
    at = index - 1
    while at >= 0 and (words[at] in ADVERBS or words[at].endswith("ly")):
        at -= 1
    return at


def _of_be(words: Sequence[str], at: int) -> bool | None:
    """Whether the "be" that carries a participle is past: "we're getting married"; None for no
    such verb."""
    while at > 0 and words[at] in {"being", "getting", "get", "be"}:
        at = _before_adverbs(words, at)
    word = words[at]
    if word in {"was", "were", "been", "wasn't", "weren't"}:
        return True
    is_present = word in _PRESENT_BE | _AHEAD or word.endswith(("'re", "'m", "'s", "'ll"))
    return False if is_present else None


def _is_joined_verb(words: Sequence[str], index: int) -> bool:
    """Whether a word after "and" is a verb: "quit and start at", and not "tea and lunch at"."""
    word = words[index]
    again = word.removeprefix("re")
    if word in UNMARKED or not {word, again} & (BASES | THIRD.keys()):
        return False
    if word != again and word not in BASES:
        return True
    if THIRD.get(word, word) not in AMBIGUOUS or {word, word + "s"} & _SCHEDULED:
        return True
    after = words[index + 1 : index + 2]
    return bool(after) and (after[0] in _PARTICLES or after[0] not in PREPOSITIONS)


def _is_plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "'s", "us"))


def _named_before(text: str, verb: str) -> bool:
    """ "Tarek drives": a name carries the verb, which is no plural then."""
    return bool(re.search(rf"[A-ZÀ-Þ][\w'’-]+\s(?:\w+ly\s)?{re.escape(verb)}\b", text))
