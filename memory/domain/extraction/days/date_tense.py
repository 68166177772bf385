"""Which way a date without a year points: the tense of the verb that it goes with."""

from __future__ import annotations

import re

from ..language.unmarked import tells_of_past
from ..language.verbs import AMBIGUOUS, BASES, THIRD, UNMARKED, is_past_form
from ..language.words import DETERMINERS, word_set, words_of

# "she'll have the export fixed by the 27th"
_WILL_HAVE = re.compile(r"(?:'ll|\bwill|\bgoing\sto)\s(?:have|get|be)\b")
_SCHEDULED = word_set(
    "starts begins opens reopens ends closes expires launches arrives leaves joins comes returns "
    "retires takes goes runs moves slips"
)
# "It has been ordered, delivery Friday."
_TO_COME = word_set("delivery arrival pickup pick-up departure due deadline collection")
_SUBJECTS = frozenset({"i", "we", "you", "they", "he", "she", "it", "who", "which"})
_PRESENT_PASSIVE = frozenset({"be", "is", "are", "get", "gets", "being"})
_PAST_AUXILIARIES = word_set("was were did had been born didn't wasn't")
_PRESENT_AUXILIARIES = word_set("will is are must has have can should won't shall")


def is_past_at(*, before: str, past: bool) -> bool:
    """Whether the nearest finite verb before a date is past; `past` is what its sentence is."""
    words = words_of(before[-80:])
    if words and words[-1] in _TO_COME:
        return False
    for index in range(len(words) - 1, -1, -1):
        word = words[index]
        if (
            index
            and is_past_form(word=word)
            and (words[index - 1] in _PRESENT_PASSIVE or words[index - 1].endswith(("'re", "'m")))
        ):
            return False
        if (
            index
            and words[index - 1] in _SUBJECTS
            and (
                word in THIRD
                or (
                    word in BASES
                    and word not in UNMARKED
                    and words[index - 1] not in {"he", "she", "it"}
                )
            )
        ):
            return False
        if word in THIRD and (THIRD[word] not in AMBIGUOUS or _named_before(before, word)):
            return False
        if word in _SCHEDULED and (not index or words[index - 1] not in DETERMINERS - {"one"}):
            return False
        if is_past_form(word=word) and _WILL_HAVE.search(
            " ".join(words[max(0, index - 8) : index])
        ):
            return False
        if word in UNMARKED and index and tells_of_past(text=before):
            return True
        if word in _PAST_AUXILIARIES or is_past_form(word=word):
            return True
        if word == "to" and index + 1 < len(words) and words[index + 1] in BASES:
            return False
        if word in _PRESENT_AUXILIARIES or word.endswith("'ll"):
            return False
    return past


def _named_before(text: str, verb: str) -> bool:
    """ "Tarek drives": a name carries the verb, which is no plural then."""
    return bool(re.search(rf"[A-ZÀ-Þ][\w'’-]+\s(?:\w+ly\s)?{re.escape(verb)}\b", text))
