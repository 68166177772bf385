"""What speakers say of their own name and pronouns."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .labels import Label, profile_of
from .words import COMMON_OPENERS, word_set

_NAME_WORD = r"[A-ZÀ-Þ][a-zà-ÿ’'-]*[A-ZÀ-Þ]?[a-zà-ÿ]+"
_FULL = rf"{_NAME_WORD}(?:\s(?:van|von|de|der|den|da|di|del|bin|al|la)\b)*(?:\s{_NAME_WORD}){{0,2}}"
_NAME = re.compile(
    rf"^(?:(?i:my\s(?:full\s|real\s|first\s)?name(?:\sis|['’]s)|i\sam|i['’]m|this\sis|"
    rf"name['’]s|"
    rf"my\sname\shere\sis))\s(?P<name>{_FULL})(?P<rest>$|(?=[\s,.!]).*)"
)
_HERE = re.compile(
    rf"^(?P<name>{_FULL})\s(?:here|speaking)(?P<rest>$|\s?[,.!:;–—-].*|"
    r"\s(?:from|at|of|with|again|and)\s.*)"
)
_FROM = re.compile(
    rf"^(?P<name>{_NAME_WORD}(?:\s{_NAME_WORD}){{1,2}})"
    r"(?P<rest>\s(?:from|at|of|with)\s(?:the\s)?[A-ZÀ-Þ][\w’'&-]*(?:\s[\w’'&-]+){0,4})[.!]*$"
)
_CALLED = re.compile(
    rf"\b(?i:i\s(?:usually\s|mostly\s|just\s)?go\sby|(?:please\s|just\s|you\scan\s)?call\sme|"
    rf"(?:everyone|everybody|people|friends|they|most\speople)\scalls?\sme|"
    rf"i['’]d\s(?:rather|prefer\sto)\sbe\scalled|i\sprefer\s(?:to\sbe\scalled|the\sname)|"
    rf"address\sme\sas|"
    rf"my\s(?:nick\s?name|preferred\sname)\sis)\s(?P<name>{_FULL})"
)
_PRONOUNS = re.compile(
    r"\b(?:my\s)?pronouns\s(?:are|is|:)?\s?(?P<p>\w+/\w+(?:/\w+)?)|\b(?:i\suse|"
    r"i\sgo\sby)\s(?P<q>\w+/\w+"
    r"(?:/\w+)?)|(?:\bpronouns:\s?|,\s|\(|^|['’]s\s|\bis\s|\bam\s)(?P<r>(?:he/him|she/her|they/them|she/they|he/they|"
    r"ze/\w+|xe/\w+)(?:/\w+)?)\b",
    re.IGNORECASE,
)
_NOT_PEOPLE = word_set(
    """
    german french english dutch italian spanish swedish danish norwegian finnish polish russian
    chinese japanese korean indian american british canadian australian irish scottish welsh
    belgian swiss austrian greek turkish catholic muslim jewish christian buddhist hindu
    european african asian portuguese brazilian mexican ukrainian
    """
)


@dataclass(frozen=True, slots=True)
class Introduction:
    """A name or pronouns that a clause states: a sentence about "{user}" and how to file it."""

    content: str
    label: Label


def introductions(*, clause: str) -> list[Introduction]:
    """What the clause says of the speaker's name and pronouns, in the third person."""
    found: list[Introduction] = []
    match = _NAME.match(clause) or _HERE.match(clause) or _FROM.match(clause)
    if match and _plausible(match.group("name")):
        rest = match.group("rest").rstrip(".! ")
        content = f"User's name is {match.group('name')}"
        affiliation = re.match(r"^\s(from|at|of|with)\s((?:the\s)?[A-Z].{1,80})$", rest)
        described = re.match(
            r"^,\s((?:the\s|an?\s|our\s)?(?!I\b|and\b|but\b|my\b|so\b|we\b|"
            r"\w+/\w+)[^;.]{3,120}?)(?=,\s(?:and\s)?(?:I|my|we)\b|$)",
            rest,
        )
        if affiliation:
            content += f", {affiliation.group(1)} {affiliation.group(2)}"
        elif described:
            content += f", {described.group(1)}"
        found.append(Introduction(content + ".", profile_of("name", 9, pinned=True)))
    called = _CALLED.search(clause)
    if called and _plausible(called.group("name")):
        label = profile_of("preferred_name", 9, pinned=True, sensitive="preferred_name")
        found.append(Introduction(f"User goes by {called.group('name')}.", label))
    pronouns = _PRONOUNS.search(clause)
    if pronouns:
        said = pronouns.group("p") or pronouns.group("q") or pronouns.group("r")
        label = profile_of("pronouns", 9, pinned=True, sensitive="pronouns")
        found.append(Introduction(f"User's pronouns are {said.lower()}.", label))
    return found


def _plausible(name: str) -> bool:
    first = name.split()[0].lower()
    return first not in COMMON_OPENERS and first not in _NOT_PEOPLE
