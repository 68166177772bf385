"""The subject of a clause and its verb: who or what "My brother Piet lives in Lille" tells of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .verbs import AMBIGUOUS, BASES, MODALS, THIRD, is_past_form
from .words import (
    ADVERBS,
    COMMON_OPENERS,
    DETERMINERS,
    KIN,
    NUMBER_WORDS,
    PREPOSITIONS,
    WORD,
    word_set,
)

PRONOUNS = word_set("i he she it they")
_CONTRACTED = {"he's": "is", "she's": "is", "it's": "is", "they're": "are", "i'm": "am"}
_BE = word_set("is are isn't aren't was were")
BE_HAVE = {
    False: word_set("is has isn't hasn't doesn't"),
    True: word_set("are have aren't haven't don't"),
}
_HABITS = word_set(
    "never usually often sometimes rarely hardly normally mostly generally longer only"
)
_MAX_SUBJECT = 6
_PLURAL_KIN = word_set("parents children kids twins siblings grandchildren people")


@dataclass(frozen=True, slots=True)
class Head:
    """The subject of a clause, its verb in the base form, and what follows the verb."""

    subject: str
    several: bool
    verb: str
    rest: str
    habit: bool


def head_of(text: str, *, past: bool = False) -> Head | None:
    """The subject and the verb of a clause that opens with its subject, in the present tense or,
    with `past`, in the past."""
    found = list(WORD.finditer(text))
    words = [match.group().lower().replace("’", "'") for match in found]
    if len(words) < 2:
        return None
    if words[0] in _CONTRACTED:
        subject = words[0].split("'")[0]
        rest = text[found[0].end() :].strip()
        return Head(text[: len(subject)], subject == "they", "be", rest, False)
    if not _opens_subject(text, words):
        return None
    for index in range(1, min(len(words), _MAX_SUBJECT + 1)):
        if (
            words[index] in MODALS | PREPOSITIONS - {"of"} | {"not", "and", "to"}
            or "," in text[found[index - 1].end() : found[index].start()]
        ):
            return None
        several = _is_several(text, words[:index])
        is_past_verb = past and is_past_form(word=words[index])
        if is_past_verb or _is_verb(
            words, index, several, text[found[index - 1].start()].isupper()
        ):
            before = index - 1
            while before and words[before] in ADVERBS | {"longer"}:
                before -= 1
            adverbs = words[before + 1 : index]
            subject = text[: found[before].end()]
            word = words[index]
            verb = "be" if word in _BE else THIRD.get(word, word)
            return Head(
                subject,
                several,
                verb,
                text[found[index].end() :].strip(),
                bool(_HABITS & set(adverbs)),
            )
    return None


def _opens_subject(text: str, words: Sequence[str]) -> bool:
    if words[0] in PRONOUNS or words[0] in DETERMINERS:
        return words[0] != "i" and words[0] not in {"no", "every", "any"}
    return text[:1].isupper() and words[0] not in COMMON_OPENERS | PREPOSITIONS | ADVERBS


def _is_several(text: str, words: Sequence[str]) -> bool:
    plain = [word for word in words if word not in ADVERBS]
    if not plain:
        return False
    last = plain[-1]
    if last == "they" or last in _PLURAL_KIN:
        return True
    at = text.lower().find(last)
    return (
        last.endswith("s") and not last.endswith(("ss", "us", "'s")) and text[at : at + 1].islower()
    )


def _is_verb(words: Sequence[str], index: int, several: bool, after_name: bool) -> bool:
    word, before = words[index], words[index - 1]
    after = words[index + 1] if index + 1 < len(words) else ""
    if word in BE_HAVE[several]:
        return True
    if before in DETERMINERS:
        return False
    governs = after in DETERMINERS | PREPOSITIONS | NUMBER_WORDS.keys() or after[:1].isdigit()
    if several:
        return word in BASES and (word not in AMBIGUOUS or governs)
    if word not in THIRD:
        return False
    named = after_name or before in PRONOUNS | KIN | ADVERBS
    return THIRD[word] not in AMBIGUOUS or governs or named
