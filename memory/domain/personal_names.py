"""The name of a person in place of "User", which memories say where no name was known."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .escaping import plain_line
from .rendering import MOST_NAME_CHARS
from .text.normalise import has_words
from .text.stop_words import STOP_WORDS, word_set
from .text.verb_forms import PAST_FORMS

# Subjects of the memories that say what somebody is called, those that count most first.
NAME_SUBJECTS = ("user.profile.preferred_name", "user.profile.name")

_USER = re.compile(
    r"(?<![\w'’\"“‘/@.#-])User(?:(?P<own>['’]s)(?![\w-])|(?=\s+(?P<next>[^\W\d_][\w'’]*))"
    r"|(?=[.,;!?)]*(?:\s|$)))"
)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_BEFORE = re.compile(r"(\S+)\s+$")
_BEHIND = re.compile(r"\s+\S+\s+([^\W\d_][\w'’]*)")
_SENTENCE_ENDS = (".", "!", "?", ":", "…")
_DETERMINERS = word_set(
    """
    a an the this these those each every any some no one another new which whichever per
    my your our its his her their all both either neither
    """
)
_AUXILIARIES = word_set(
    "is are was were has have had do does did can could will would shall should may might must"
)
_BESIDE_VERBS = word_set("never always often usually currently still just rarely already since")
# Behind a noun of several, but not behind "User likes".
_OF_SEVERAL = word_set("are were have do don't aren't weren't haven't can will must should may")
# What a noun may end with that a verb about one person does not.
_NO_VERB = ("ss", "us", "is")

_WORD_OF_NAME = r"[^\W\d_a-z][^\W\d_]*(?:['’-][^\W\d_]+)*"
_NAME = rf"(?P<name>{_WORD_OF_NAME}(?:\s{_WORD_OF_NAME}){{0,3}})"
_STATED = (
    re.compile(
        # What User runs or owns has a name of its own.
        r"(?:^User['’]s\s(?:\w+\s){0,2}names?\s(?:is|are)|^(?:The\s)?[Nn]ame(?::|\sis)"
        r"|^User(?:\s(?:is|also|mostly|usually|prefers|likes|wants|wishes|asked|asks|would|rather"
        r"|to|be))*\s(?:called|named|known\sas|addressed\sas|goes\sby|go\sby)"
        r"|\b(?:calls?|address(?:es)?)\s(?:User|them|him|her)(?:\sas)?)"
        rf"\s(?:the\sname\s(?:of\s)?)?{_NAME}"
    ),
    re.compile(rf"^User\sis\s{_NAME}(?=[.,!]|$|\s(?:from|and|at|the)\b)"),
)


def display_name(name: str) -> str:
    """The name as sentences show it ("sarah.lee" as "Sarah Lee")."""
    words = name.replace("_", " ").replace(".", " ").split()
    return " ".join(word[:1].upper() + word[1:] for word in words)


def possessive(name: str) -> str:
    """The name as an owner ("Sarah's", "Miles'")."""
    return name + ("'" if name.endswith("s") else "'s")


def says_user(text: str) -> bool:
    """Whether the text says "User" where a person's name could stand."""
    return "User" in text and any(_is_person(text, found) for found in _USER.finditer(text))


def with_name(text: str, *, name: str) -> str:
    """The text with the name wherever "User" stands for the person.

    Other users ("the User", "User Management", "User stories are") stay, and so does a text that
    names the person already, for then "User" may be somebody else. The name comes on one line of
    at most 40 characters; whoever renders the text escapes it with the rest.
    """
    shown = display_name(plain_line(name))[:MOST_NAME_CHARS].strip()
    if not has_words(shown) or "User" not in text or _names(text, shown):
        return text

    def put(found: re.Match[str]) -> str:
        if not _is_person(text, found):
            return found[0]
        return possessive(shown) if found["own"] else shown

    return _USER.sub(put, text)


def stated_name(texts: Iterable[str]) -> str:
    """The name that the first of these statements about a person that tells one tells; else ""."""
    for text in texts:
        for pattern in _STATED:
            found = pattern.search(text)
            if found and found["name"] != "User":
                return found["name"]
    return ""


def heard_name(name: str, *, external_id: str) -> str:
    """The name that a client gave with messages, "" where it rather looks like an id."""
    plain = plain_line(name)
    is_name = plain.replace(" ", "").replace("-", "").replace("'", "").replace(".", "").isalpha()
    is_id = plain == external_id and not plain[:1].isupper()
    return plain if is_name and not is_id and plain.casefold() != "user" else ""


def _names(text: str, name: str) -> bool:
    """Whether a word of the name stands in the text, with the same capitals."""
    words = {word.removesuffix("'s") for word in _WORD.findall(text.replace("’", "'"))}
    return not words.isdisjoint(_WORD.findall(name.replace("’", "'")))


def _is_person(text: str, found: re.Match[str]) -> bool:
    """Whether this "User" is the person, by the words beside it."""
    before = _BEFORE.search(text, 0, found.start())
    if found["next"] and not found["next"][0].islower():
        return False
    if before is not None and not before[1].endswith(_SENTENCE_ENDS) and before[1] != "that":
        return before[1].endswith((",", ";")) or _may_precede(before[1])
    # A capital says little where a sentence begins, and "that" may point at a user.
    return not found["next"] or _may_follow(found["next"], text, found.end())


def _may_precede(word: str) -> bool:
    bare = word.strip("(\"'“‘")
    if bare.casefold() in _DETERMINERS:
        return False
    return bare[:1].islower() or bare.casefold() in STOP_WORDS or not bare[:1].isalpha()


def _may_follow(word: str, text: str, end: int) -> bool:
    """Whether the first word behind the subject of a sentence may be its verb, or beside it."""
    plain = word.replace("’", "'")
    known = STOP_WORDS | _AUXILIARIES | _BESIDE_VERBS | PAST_FORMS
    if plain in known or plain.endswith(("n't", "ed", "ly")) or plain == "cannot":
        return True
    if not plain.endswith("s") or plain.endswith(_NO_VERB):
        return False
    behind = _BEHIND.match(text, end)
    return behind is None or behind[1].replace("’", "'") not in _OF_SEVERAL
