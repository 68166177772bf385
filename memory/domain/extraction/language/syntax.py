"""The build of a sentence: whether it commands, whether it has a verb."""

from __future__ import annotations

import re

from .verbs import AMBIGUOUS, AUXILIARIES, BASES, GERUNDS, MODALS, PAST, THIRD, is_finite
from .words import (
    ADVERBS,
    DETERMINERS,
    NAMES_TOO,
    NUMBER_WORDS,
    PREPOSITIONS,
    STOPWORDS,
    word_set,
    words_of,
)

_FROM_NOW = re.compile(
    r"^(?:in\s(?:the\s)?future|from\snow\son|going\sforward|next\stime|as\sa\srule|"
    r"in\sgeneral)\b,?\s",
    re.I,
)


_LABEL = re.compile(r"[A-Za-z]+:\s")
_HEADS = word_set("rule plan aim order limit cost price charge place answer")
_LASTS_UNTIL = word_set("until till through for as")
# "Type 2, like my dad", "gate 4: closed": what is counted off is a thing.
_NUMBERED_THING = re.compile(r"[A-Za-z]+\s\d+[a-z]?\s?[,.:;]")
_NAMES_ONLY = re.compile(r"[A-Z][\w+#.]*(?:,\s[A-Z][\w+#.]*)*,?\s(?:and|or|plus|with)\s[A-Z]")


def names_only(*, text: str) -> bool:
    """Whether a text opens with names in a row ("Go and Svelte"), whatever else they may mean."""
    return bool(_NAMES_ONLY.match(text))


# "Stock at the depot: 140 tins": a list of figures under its heading.
_STOCK_OF = re.compile(
    r"(?!(?:look|put|stay|stop|meet|call|keep|work|start|wait|park|count|check)\b)[A-Za-z]+\s(?:at|in)\s(?:the|our|my)\s"
    r"[\w’'-]+(?:\s[\w’'-]+)?:\s(?:about\s|around\s)?\d",
    re.IGNORECASE,
)


def is_imperative(*, text: str) -> bool:
    """Whether a sentence begins with a bare verb that tells somebody to do something."""
    if names_only(text=text) or _LABEL.match(text):
        return False
    words = words_of(_FROM_NOW.sub("", text))
    while words and words[0] in {
        "please",
        "and",
        "then",
        "just",
        "also",
        "always",
        "never",
        "so",
        "now",
        "but",
    }:
        words = words[1:]
    if not words:
        return False
    if words[0] in {"don't", "do", "let's"} and len(words) > 1:
        second = words[2] if words[1] == "ever" and len(words) > 2 else words[1]
        return words[0] != "let's" and (second in BASES or second in {"not", "be"})
    if words[0] == "be" and len(words) > 1:
        return True
    if words[0] not in BASES and not (words[0][:2] in {"un", "re"} and words[0][2:] in BASES):
        return False
    if len(words) == 1:
        return words[0] not in AMBIGUOUS
    if words[0] in NAMES_TOO and words[1] in THIRD and text[:1].isupper():
        # "Mark works in finance"
        return False
    if words[0] == "last" and words[1] not in _LASTS_UNTIL:
        # "Last year an update broke it", "last class is on the 17th": no order to last.
        return False
    if words[0] in AMBIGUOUS and _NUMBERED_THING.match(text):
        return False
    if words[0] in AMBIGUOUS and _STOCK_OF.match(text):
        return False
    if words[0] in _HEADS and words[1] in PREPOSITIONS and ": " in text[:60]:
        # "rule for everyone: …" heads what follows.
        return False
    if len(words) == 2 and words[0] in AMBIGUOUS and any(char.isdigit() for char in words[1]):
        return False
    if (
        words[1] in AUXILIARIES
        or words[1] in MODALS
        or words[1] == "of"
        or is_finite(word=words[1])
    ):
        return False
    return not (words[0] in AMBIGUOUS and any(is_finite(word=word) for word in words[1:4]))


_CONDITION_HEAD = re.compile(
    r"^(?:whenever|every\stime|each\stime|when|if|once|as\ssoon\sas|before|after|in\scase|to)\s"
    r"[^,:]{3,140}[,:]\s(?:then\s)?",
    re.IGNORECASE,
)
_AFTER_IS = word_set(
    "due ready gone done paid booked closed over too still also already always never not in on "
    "a an the been at going my our your away out off back here there ill sick pregnant "
    "bad good broken down full empty better worse allergic free available late early"
)
_IS_CONTRACTED = word_set(
    "it's that's there's he's she's what's who's here's everyone's everything's"
)


# "a firm called Nordspan" is somebody or something with its name, and no clause.
_CALLED_SO = re.compile(r"(?<=\b[Aa]\s)(?:[\w-]+\s){1,2}(?:called|named)\s(?=[A-ZÀ-Þ])")
# "Anna and Tom live in Ghent"
_TWO_AND_VERB = re.compile(r"[A-ZÀ-Þ][\w’'-]+\sand\s[A-ZÀ-Þ][\w’'-]+\s[a-z]+\s")


def has_verb(*, text: str) -> bool:
    """Whether a sentence has a finite verb, so that it can stand as a clause."""
    if "called " in text or "named " in text:
        text = _CALLED_SO.sub("", text)
    words = words_of(text)
    if _TWO_AND_VERB.match(text) and words[3] in BASES - AMBIGUOUS:
        return True
    head = _CONDITION_HEAD.match(text)
    if head and is_imperative(text=text[head.end() :]):
        return True
    for index, word in enumerate(words):
        if index == 0 and word in {"let's"}:
            return True
        beside = words[max(0, index - 1) : index] + words[index + 1 : index + 2]
        if word == "may" and any(near[0].isdigit() for near in beside):
            continue
        if word.endswith("'s") and word not in _IS_CONTRACTED:
            # "Ilse's late" or "Ilse's budget": a clause only with a word like "not", "in", "-ing".
            following = words[index + 1] if index + 1 < len(words) else ""
            if (
                following in _AFTER_IS
                or (index and word in {"name's", "names's"})
                or following in GERUNDS
            ):
                return True
            continue
        before = words[index - 1] if index else ""
        if word in BASES and word not in PAST:
            if _takes_base(before, index) and (
                word not in AMBIGUOUS
                or before in _BASE_SUBJECTS
                or (before.endswith("s") and index == 1)
                or _follows_plural(words, index)
            ):
                return True
            plural = any(earlier.endswith("s") and len(earlier) > 3 for earlier in words[:index])
            free = before not in PREPOSITIONS | DETERMINERS | {"to", "not", "and"}
            if word not in AMBIGUOUS and plural and free:
                return True
            if words[0] in {"i", "we"} and 0 < index < 5:
                return True
            continue
        if is_finite(word=word):
            return True
        if (
            word.endswith("s")
            and word in THIRD
            and index
            and not _counts_it(words, index)
            and (
                before not in STOPWORDS
                or before in ADVERBS
                or before in _THIRD_SUBJECTS
                or (before in _OBJECTS and index > 2 and words[index - 2] in PREPOSITIONS)
            )
        ):
            return True
    return any(acts_as_verb(words=words, index=index) for index in range(1, len(words)))


_SUBJECTS = word_set("i we you they he she it who")
_NEVER_VERBS = STOPWORDS | PREPOSITIONS | ADVERBS | DETERMINERS
_GOVERNED = word_set("the a an my our his her their its this that these those it me us him them")


def acts_as_verb(*, words: list[str], index: int) -> bool:
    """Whether a word that no list knows stands where a verb does: "we rack it"."""
    word, before = words[index], words[index - 1] if index else ""
    if not index or not word.isalpha() or word in _NEVER_VERBS or len(word) < 3:
        return False
    if before in _SUBJECTS or (before in ADVERBS and index > 1 and words[index - 2] in _SUBJECTS):
        return True
    after = words[index + 1] if index + 1 < len(words) else ""
    if before in _NEVER_VERBS or word in NUMBER_WORDS:
        return False
    if word.endswith("ed") and len(word) > 4:
        return not before.endswith("ly") and (after in _GOVERNED or after in PREPOSITIONS)
    return word.endswith("s") and after in _GOVERNED and not word.endswith("ss")


_PLAIN_VERBS = word_set(
    "need want take use like cost make get give live work eat drink own keep love hate"
)


def _counts_it(words: list[str], index: int) -> bool:
    """ "120 seats" counts seats, "release 9.2 runs" does not."""
    before = words[index - 1]
    if not (before[0].isdigit() or before in NUMBER_WORDS):
        return False
    return (
        index < 2
        or words[index - 2] in STOPWORDS | PREPOSITIONS
        or is_finite(word=words[index - 2])
    )


def _follows_plural(words: list[str], index: int) -> bool:
    """ "The tomatoes stand on …", "my parents visit us": a plural, its verb and what it governs."""
    after = words[index + 1] if index + 1 < len(words) else ""
    plain = words[index] in _PLAIN_VERBS
    return (
        index < 5
        and words[0] in DETERMINERS
        and words[index - 1].endswith("s")
        and not words[index - 1].endswith(("ss", "'s", "us"))
        and (
            plain or after in DETERMINERS | PREPOSITIONS | {"us", "me", "him", "her", "them", "it"}
        )
    )


_OBJECTS = word_set("me us him her them it you")
_BASE_SUBJECTS = word_set("i we you they who people to and") - {"to", "and"} | ADVERBS
_THIRD_SUBJECTS = word_set("it she he that this who which everyone nobody everything one")


def _takes_base(before: str, index: int) -> bool:
    """Whether a bare verb form may follow: after a plural, a pronoun, an adverb, or at the head."""
    return (
        index == 0
        or before in _BASE_SUBJECTS
        or (before.endswith("s") and before not in {"is", "was", "its", "his", "as"})
    )
