"""Whether a sentence tells of the past."""

from __future__ import annotations

import re

from .unmarked import tells_of_past
from .verbs import AMBIGUOUS, BASES, PARTICIPLES, THIRD, UNMARKED, is_past_form
from .words import DETERMINERS, word_set, words_of

_PLAIN_SUBJECTS = word_set("i we they you")
_LABEL = re.compile(r"^(?:[\w’'-]{1,30}\s){0,4}[\w’'-]{1,30}:\s(?=[A-Za-z])")
# Participles that tell what a thing is like: "VAT included", "trunk based".
_STATIVE = word_set(
    "included attached required needed allowed based located called named known preferred booked "
    "signed printed sealed rejected accepted closed"
)
_GOES_ON = re.compile(
    r"\b(?:ha(?:s|ve)|['’](?:s|ve))\s(?:\w+ly\s|always\s|both\s|all\s)?(?:had|(?P<been>been)|lived|worked|known|used|owned|"
    r"kept|belonged|taught|studied|played|run|stood|served|rented|smoked|suffered|spoken)\b.*"
    r"\b(?:since|for\s(?:\w+\s){0,2}(?:years?|months|weeks|decades|ages|life)|all\s(?:my|his|her|their)\slife)\b",
    re.IGNORECASE,
)
# "Before delivery I run the terms by her, that has saved me twice": the main clause comes first.
_RELATIVE_TAIL = re.compile(
    r"(?:before|after)\s[^,]{3,60}\s(?:i|we)\s[^,]+,\s(?:that|which|who|where)\s", re.IGNORECASE
)
_HABITS = frozenset({"always", "never", "usually", "only", "often"})
_ACTORS = word_set("i we he she they it was were had been got be who nobody everyone")
_SINGULAR_SUBJECTS = word_set("he she it that this which who")


def _still_holds(text: str) -> bool:
    """ "I've had asthma since school" tells how it still is, "it's been held since" does not."""
    match = _GOES_ON.search(text)
    if match is None:
        return False
    following = words_of(text[match.end("been") :])[:1] if match.group("been") else []
    return not following or not (is_past_form(word=following[0]) or following[0].endswith("ing"))


def is_past(*, text: str) -> bool:
    """Whether the sentence tells of the past, by its first finite verb."""
    words = words_of(_LABEL.sub("", text))
    if (
        words[:1]
        and words[0] in {"when", "whenever", "if", "once", "before", "after"}
        and "," in text
        and not _RELATIVE_TAIL.match(text)
    ):
        words = words_of(text.split(",", 1)[1])
    if words[:1] == ["no"] and len(words) > 2 and is_past_form(word=words[2]):
        # "No form needed": what holds, without its verb.
        words = words[3:]
    unmarked = tells_of_past(text=text)
    if unmarked is not None:
        return unmarked
    for index, word in enumerate(words):
        if word in _HABITS and words[index + 1 : index + 2] and words[index + 1] in THIRD:
            return False
        if word.endswith(("'s", "'re")) and words[index + 1 : index + 2]:
            # "the floor's freshly oiled" tells how it is now.
            adverb = words[index + 1]
            then = words[min(index + 2, len(words) - 1)]
            if adverb.endswith("ly") and is_past_form(word=then):
                return False
        if word in {
            "will",
            "won't",
            "shall",
            "i'll",
            "we'll",
            "they'll",
            "she'll",
            "he'll",
            "it'll",
        }:
            return False
        if word in {"was", "were", "did", "didn't", "had", "wasn't", "weren't", "been", "hadn't"}:
            return True
        if word in {"am", "is", "are", "do", "does", "can", "must", "should", "has", "have", "i'm",
                    "i've", "we've", "it's", "isn't", "aren't", "don't", "can't"}:  # fmt: skip
            following = words[index + 1 : index + 3]
            if word in {"has", "have", "i've", "we've"}:
                if following[:1] == ["got"] or _still_holds(text):
                    return False
                return any(
                    is_past_form(word=w) or (w in PARTICIPLES and w not in BASES) for w in following
                )
            return False
        if index and word in BASES and words[index - 1] in _PLAIN_SUBJECTS and word not in UNMARKED:
            return False
        if (
            word in BASES
            and word not in AMBIGUOUS
            and index
            and words[index - 1] not in {"to", "did", "didn't", "a", "the"}
        ):
            return False
        if word in _STATIVE and (not index or words[index - 1] not in _ACTORS):
            continue
        if word == "left" and index and words[index - 1] in THIRD:
            # "Freja plays left wing"
            return False
        if is_past_form(word=word) and (index == 0 or words[index - 1] not in DETERMINERS | {"be"}):
            return True
        before = words[index - 1] if index else ""
        if word in THIRD and (THIRD[word] not in AMBIGUOUS or before in _SINGULAR_SUBJECTS):
            return False
    return False
