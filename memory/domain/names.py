"""Names of people in texts."""

from __future__ import annotations

import re

from memory.domain.rendering import MOST_NAME_CHARS, plain_line
from memory.domain.text.words import has_words

# "User" as a word alone; before a capital it is a part of a longer name ("User Management").
_USER = re.compile(
    r"(?<![\w'’\"“‘/@.#-])User(?:(?P<own>['’]s)\b|(?!['’/@#-]|\w))(?!\s+(?![a-z\d])\w)"
)
# What it stands behind where it begins a sentence, or what a summary says of a day.
_BEGINS = re.compile(r"(?:^|[.!?\]]\s+|\n)(?=User)")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def display_name(name: str) -> str:
    """The name as sentences show it ("sarah.lee" as "Sarah Lee")."""
    words = name.replace("_", " ").replace(".", " ").split()
    return " ".join(word[:1].upper() + word[1:] for word in words)


def possessive(name: str) -> str:
    """The name as an owner ("Sarah's", "Miles'")."""
    return name + ("'" if name.endswith("s") else "'s")


def says_user(text: str) -> bool:
    """Returns whether a sentence begins with "User" where a person's name could stand."""
    return "User" in text and any(
        _USER.match(text, found.end()) for found in _BEGINS.finditer(text)
    )


def with_name(text: str, *, name: str) -> str:
    """The text with the name wherever "User" stands alone, if a sentence begins with that.

    A text that names the person already stays, for then "User" may be somebody else. The name
    comes on one line of at most 40 characters; whoever renders the text escapes it with the rest.
    """
    shown = display_name(plain_line(name))[:MOST_NAME_CHARS].strip()
    if not has_words(shown) or not says_user(text) or _names(text, shown):
        return text
    return _USER.sub(lambda found: possessive(shown) if found["own"] else shown, text)


def heard_name(name: str, *, external_id: str) -> str:
    """The name that a client gave with messages, "" where it rather looks like an id."""
    plain = plain_line(name)
    is_name = plain.replace(" ", "").replace("-", "").replace("'", "").replace(".", "").isalpha()
    is_id = plain == external_id and not plain[:1].isupper()
    return plain if is_name and not is_id and plain.casefold() != "user" else ""


def _names(text: str, name: str) -> bool:
    words = {word.removesuffix("'s") for word in _WORD.findall(text.replace("’", "'"))}
    return not words.isdisjoint(_WORD.findall(name.replace("’", "'")))
