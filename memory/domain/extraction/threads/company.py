"""People and animals named by what they are, as "he", "she" and "they" may mean them later."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from ..language.words import KIN, MONTHS, PEOPLE_NOUNS, PETS, WEEKDAYS, word_set
from .mentions import Mention

TRADES = word_set(
    """
    plumber technician baker painter roofer driver courier mechanic builder vet nanny babysitter
    cleaner tenant officer guide handyman surveyor inspector notary referee conductor soloist
    """
)
STRANGERS = word_set("girl boy guy woman man lady")
# Too often an organisation, several, or part of another phrase ("the head of", "the client").
UNCLEAR = word_set(
    "head lead parents siblings kids children twins baby family friends dogs cats pets client "
    "customer contact student"
)
GROUPS = word_set(
    """
    auditors tenants neighbours neighbors clients customers students pupils guests visitors
    contractors suppliers vendors partners colleagues teammates investors inspectors developers
    designers testers engineers managers lawyers builders roofers painters plumbers movers doctors
    nurses teachers trainers members volunteers organisers organizers owners landlords sponsors
    reviewers regulators authors editors grandparents cousins friends flatmates interns accountants
    bookkeepers cleaners gardeners farmers drivers cooks waiters electricians carpenters tutors
    caterers freelancers babysitters parents kids children people folks guys twins police sisters
    brothers sons daughters
    """
)


ORGANISATIONS = word_set(
    """
    firm company shop bank regulator hotel airline school council agency board committee department
    landlord insurer insurance hospital clinic garage dealer broker supplier vendor publisher
    restaurant caterer museum university ministry court union club authority municipality farm
    bakery dairy brewery studio charity startup provider rental
    """
)


def _alternatives(nouns: frozenset[str]) -> str:
    return "|".join(sorted(nouns, key=len, reverse=True))


_ONE = re.compile(
    r"\b(?:the(?:\steam['’]s)?|our|my|a|an|your|(?P<owner>[A-Z]\w+['’]s))\s"
    r"(?P<adj>[a-z-]+\s)?(?P<noun>"
    + _alternatives((PEOPLE_NOUNS | PETS | TRADES | STRANGERS) - UNCLEAR)
    + r")\b(?!['’-]|\s(?:day|office|team|call|food|appointment|meeting))"
    r"(?P<from>\sfrom\s[A-Z][\w-]+)?"
)
_SEVERAL = re.compile(
    r"\b(?P<det>[Tt]he(?:\steam['’]s)?|[Oo]ur|[Mm]y|[Yy]our|[A-Z]\w+['’]s)\s(?P<adj>(?!of\b)[a-z-]+\s)?"
    r"(?P<noun>" + _alternatives(GROUPS) + r")\b(?!['’-])"
)


# "Tom and Ana", "Dana's brother and his wife"
_PAIR = re.compile(
    r"(?:(?:On|In)\s[^,]{3,20}(?:,\s\d{4})?,\s)?(?P<pair>[A-ZÀ-Þ][\w-]+(?:['’]s\s[a-z-]+)?\sand\s"
    r"(?:(?:his|her|their)\s[a-z-]+|(?:[A-ZÀ-Þ][\w-]+['’]s\s[a-z-]+|[A-ZÀ-Þ][\w-]+(?!['’]))))\s(?=[a-z])"
)


_ORGANISATION = re.compile(
    r"\b(?P<det>[Tt]he(?:\steam['’]s)?|[Oo]ur|[Mm]y|[A-Z]\w+['’]s)\s(?P<adj>(?!of\b)[a-z-]+\s)?"
    r"(?P<noun>" + _alternatives(ORGANISATIONS) + r")\b(?!-)"
)


# Who does something, by the ending: only a "she" that follows tells such a word from a thing's.
_TRADE = re.compile(
    r"\b(?:the|your|that)\s(?P<noun>[a-z]{3,}(?:er|or|ist|ian|ant|ess|man|woman))\b(?!['’-]|\s(?:of|in|on|at|for|to)\b)"
)


_SINGLE_KIN = _alternatives(
    KIN - word_set("family kids children parents siblings twins grandchildren")
)
_ONES_KIN = re.compile(rf"\b([A-Z]\w+['’]s\s(?:[\w-]+\s)?(?:{_SINGLE_KIN}))\b(?!\s[A-Z])")
_THEIR_KIN = re.compile(rf"\btheir\s({_SINGLE_KIN})\b(?!\s[A-Z])")


def relative_in(*, text: str, speakers: Collection[str]) -> str:
    """ "Dana's dad" where a text in the third person speaks of one relative, else "".

    "Their dad" is the dad of the speaker who is named before.
    """
    ones, theirs = _ONES_KIN.search(text), _THEIR_KIN.search(text)
    if ones:
        return ones.group(1)
    before = text[: theirs.start()] if theirs else ""
    owner = next((name for name in speakers if name in before), "")
    return f"{owner}'s {theirs.group(1)}" if theirs and owner else ""


def organisation_by_role(*, text: str) -> str:
    """ "the removal firm" where a text speaks of such a body, else ""."""
    match = _ORGANISATION.search(text)
    return f"the {match.group('adj') or ''}{match.group('noun')}" if match else ""


def one_by_role(*, text: str) -> str:
    """ "the technician" or "Dana's teacher" where a text speaks of one, else ""."""
    match = _ONE.search(text)
    if match is None:
        return ""
    if match.group("owner"):
        return f"{match.group('owner')} {match.group('adj') or ''}{match.group('noun')}"
    known_by = match.group("from") if match.group("noun") in STRANGERS else ""
    return f"the {match.group('noun')}{known_by or ''}"


def one_by_trade(*, text: str) -> str:
    """ "the conservator" out of "Shall I book the conservator a room?", by the ending, else ""."""
    match = _TRADE.search(text)
    return f"the {match.group('noun')}" if match else ""


def several_by_role(*, text: str) -> str:
    """ "the auditors" or "Ines's parents" where a text speaks of such a group, else ""."""
    pair = _PAIR.match(text)
    if pair and not {*pair["pair"].lower().split()} & {*WEEKDAYS, *MONTHS}:
        return pair["pair"]
    match = _SEVERAL.search(text)
    if match is None:
        return ""
    owner = match.group("det")
    det = owner if owner[:1].isupper() and owner[-1] == "s" else "the"
    return f"{det} {match.group('adj') or ''}{match.group('noun')}"


class Company:
    """Who was spoken of last by what they are: somebody, several, an organisation."""

    def __init__(self) -> None:
        self.one: Mention | None = None
        self.several: Mention | None = None
        self.body: Mention | None = None

    def learn(self, *, text: str, at: Mention) -> None:
        """Learn whom a sentence names by what they are; `at` says where it stands."""
        one, several = one_by_role(text=text), several_by_role(text=text)
        body = organisation_by_role(text=text)
        self.one = replace(at, name=one) if one else self.one
        self.several = replace(at, name=several) if several else self.several
        self.body = replace(at, name=body) if body else self.body

    def last(self, *, named: Mention | None) -> Mention | None:
        """The people or the body spoken of last, the one with a name (`named`) among them."""
        known = [each for each in (self.several, self.body, named) if each]
        return max(known, key=lambda each: each.when, default=None)
