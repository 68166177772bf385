"""What speakers say of their own name and pronouns."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..language.words import COMMON_OPENERS, NAMES_TOO, word_set
from .labels import Label, profile_of
from .profile import profile_label

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
# "Hola, I'm …", "Good to meet you, my name is …"
_GREETED = re.compile(
    rf"^[\w’'\s]{{2,30}}[,!]\s(?=(?i:i['’]m|i\sam|my\sname(?:\sis|['’]s)|this\sis)\s{_NAME_WORD})"
)
_ALONE = re.compile(rf"^(?P<name>{_NAME_WORD}(?:\s{_NAME_WORD}){{0,2}})(?P<rest>$|[,.!;].*)")
_PIECE = re.compile(r",\s(?:and\s)?|\sand\s(?=(?:based|living|from|born)\b)")
_AT_A_PLACE = re.compile(r"^(?!(?:from|in|near)\b).{2,40}\s(?:at|of|for|with)\s(?:the\s)?[A-Z]")
_CALLED = re.compile(
    rf"\b(?i:i\s(?:usually\s|mostly\s|just\s)?go\sby|(?:please\s|just\s|you\scan\s)?call\sme|"
    rf"(?:everyone|everybody|people|friends|they|most\speople)\scalls?\sme|"
    rf"i['’]d\s(?:rather|prefer\sto)\sbe\scalled|i\sprefer\s(?:to\sbe\scalled|the\sname)|"
    rf"address\sme\sas|"
    rf"my\s(?:nick\s?name|preferred\sname)\sis)\s(?P<name>{_FULL})"
)
# "My friends call me Tuck but I prefer Thomas": what one chooses stands above what others say.
_INSTEAD = re.compile(
    rf"\b(?:calls?|called|know|knows)\sme\s(?:as\s|by\s)?{_NAME_WORD}\b[^.;]{{0,20}}?[,;.–—]?\s(?:(?:but|though|although|however|and|only)[,\s]+)?"
    rf"(?i:please\s)?(?i:i['’]d\s(?:rather|prefer)|i\s(?:would\s)?(?:much\s|actually\s|really\s)?(?:rather|prefer|like)|(?:just\s)?call\sme"
    rf"|i\s(?:actually\s|usually\s|mostly\s)?go\sby|i\suse|make\sit)(?i:\s(?:to\s)?(?:be\s(?:called\s)?|go\sby\s)?(?:the\sname\s)?|\s)"
    rf"(?P<name>{_FULL})\b(?=[.,!;]|\s(?:please|instead|better|myself|more)\b|$)"
)
# What is said before and after "call me …" where the name is not wanted, or was once.
_UNWANTED = re.compile(
    r"\b(?:not|never|nobody|no\s?one|no\slonger|none|hates?|dislikes?|stop|used\sto|if|whenever|only|"
    r"who|which|why|rarely|hardly|annoy\w*|mind|sick|tired)\b|n['’]t\b|\b(?:do|did|ca|wo)nt\b",
    re.IGNORECASE,
)
_DISLIKED = re.compile(
    r"^[^.;]{0,30}?(?:,|\sbut|\sand)\s[^.;]{0,20}?"
    r"(?:\b(?:hate|dislike|annoys)\b|(?:\bnot|n['’]t)\s(?:like|stand|want|bear)\b)"
    r"|^\s(?:any\s?more|again)\b",
    re.IGNORECASE,
)
_PART = re.compile(r"[,;:–—]\s|\b(?:but|so|and|then)\s", re.IGNORECASE)
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


def introductions(*, clause: str, speaker: str = "") -> list[Introduction]:
    """What the clause says of the speaker's name and pronouns, in the third person.

    A name at the head of a clause is the speaker's where it begins as the name in `speaker` does.
    """
    found: list[Introduction] = []
    clause = _GREETED.sub("", clause)
    match = _NAME.match(clause) or _HERE.match(clause) or _FROM.match(clause)
    if match is None and speaker:
        alone = _ALONE.match(clause)
        own = speaker.lower().split()[0]
        match = alone if alone and alone.group("name").lower().split()[0] == own else None
    is_month = match and clause[:5].lower() == "this " and match["name"].lower() in NAMES_TOO
    if match and not is_month and _plausible(match.group("name")):
        rest = match.group("rest").rstrip(".! ")
        content = f"User's name is {match.group('name')}"
        affiliation = re.match(r"^\s(from|at|of|with)\s((?:the\s)?[A-Z].{1,80})$", rest)
        described = re.match(
            r"^,\s((?:the\s|an?\s|our\s)?(?!I\b|and\b|but\b|my\b|so\b|we\b|"
            r"\w+/\w+)[^;.]{3,120}?)(?=,\s(?:and\s)?(?:I|my|we)\b|$)",
            rest,
        )
        others: list[Introduction] = []
        if affiliation:
            content += f", {affiliation.group(1)} {affiliation.group(2)}"
        elif described:
            plain, others = _described(described.group(1))
            content += plain
        found.append(Introduction(content + ".", profile_of("name", 9, pinned=True)))
        found += others
    instead = _INSTEAD.search(clause)
    called = instead or next((each for each in _CALLED.finditer(clause) if _is_wanted(each)), None)
    if called and _plausible(called.group("name")):
        label = profile_of("preferred_name", 9, pinned=True, sensitive="preferred_name")
        found.append(Introduction(f"User goes by {called.group('name')}.", label))
    pronouns = _PRONOUNS.search(clause)
    if pronouns:
        said = pronouns.group("p") or pronouns.group("q") or pronouns.group("r")
        label = profile_of("pronouns", 9, pinned=True, sensitive="pronouns")
        found.append(Introduction(f"User's pronouns are {said.lower()}.", label))
    return found


def chooses_name(*, text: str) -> bool:
    """Whether a sentence sets the name one goes by against what others say."""
    return bool(_INSTEAD.search(text))


def _described(said: str) -> tuple[str, list[Introduction]]:
    """ "CTO at Acme, based in Lisbon": what belongs to the name, and the facts beside it."""
    pieces = _PIECE.split(said)
    if len(pieces) < 2:
        return f", {said}", []
    plain: list[str] = []
    facts: list[Introduction] = []
    for piece in pieces:
        filed = profile_label(clause=f"I'm {piece}")
        if filed is None and _AT_A_PLACE.search(piece) and not facts:
            filed = profile_of("role", 9, pinned=True)
        if filed is None:
            plain.append(piece)
        else:
            facts.append(Introduction(f"User is {piece}.", filed))
    return "".join(f", {piece}" for piece in plain), facts


def _is_wanted(called: re.Match[str]) -> bool:
    """Whether the speaker wants to be called so, and not the opposite."""
    before = _PART.split(called.string[: called.start()])[-1]
    return not (_UNWANTED.search(before) or _DISLIKED.match(called.string[called.end() :]))


def _plausible(name: str) -> bool:
    first = name.split()[0].lower()
    if first in NAMES_TOO:
        return True
    return first not in COMMON_OPENERS and first not in _NOT_PEOPLE
