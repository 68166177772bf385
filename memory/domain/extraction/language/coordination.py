"""Facts about somebody or something else that one sentence joins, each with its subject.

"My brother Piet lives in Lille and works for Renault" tells two things, and news about one of them
says nothing about the other. What needs its neighbour stays whole: a shared object, a condition,
the steps of one doing, the hours of one day.
"""

from __future__ import annotations

import re

from ..days.week_plans import is_weekly_list
from .genders import Gender, gender_of, is_given_name
from .heads import BE_HAVE, PRONOUNS, Head, head_of
from .names import is_person, names_in
from .syntax import is_imperative
from .tense import is_past
from .verbs import AMBIGUOUS, BASES, THIRD
from .words import (
    DETERMINERS,
    KIN,
    PEOPLE_NOUNS,
    PETS,
    PREPOSITIONS,
    content_words,
    word_set,
    words_of,
)

_JOINT = re.compile(r",\s(?:and\s)?|\sand\s")
_ALSO = re.compile(r"(?:also|currently)\s")
# A sentence with one of these has parts that lean on each other.
_LEANING = re.compile(
    r"[?\"“”();]|:\s|\b(?:who|whom|whose|which|that|where|when|whenever|if|unless|because|although|though|while|"
    r"whereas|whether|how|what|why|so|than|then|both|either|neither|instead|otherwise|together|respectively|"
    r"each\sother|too|same|between|but|yet|let['’]s)\b",
    re.IGNORECASE,
)
# What the second half can only mean by the first.
_POINTING = word_set("it them this these those there here one ones that's others another him her")
_POSSESSIVES = {"his": Gender.HE, "her": Gender.SHE, "its": Gender.UNKNOWN, "their": Gender.UNKNOWN}
_PERSONAL = {"he": Gender.HE, "she": Gender.SHE, "it": Gender.UNKNOWN, "they": Gender.UNKNOWN}
# What somebody or something is, has or does for good, beside whatever else they do.
_STATES = word_set(
    "be has have hasn't haven't doesn't don't live work own speak study teach belong cost weigh "
    "hold love like hate prefer know need play sing come run lead manage drive report"
)
_REPORTS = word_set(
    "say think believe hope feel claim mean guess suppose suspect fear wish swear expect hear see "
    "make want let help know remember notice find ask tell suggest"
)
# The two ends of one time.
_ENDS = word_set("open close start begin end finish stop arrive leave depart land check")
_TIME = re.compile(
    r"\b(?:(?:on|every|each|until|till|during|before|after)\s\w|at\s\d|in\sthe\s(?:morning|afternoon|evening)|"
    r"today|tomorrow|tonight|(?:this|next)\s\w|daily|weekly|twice|once|always)",
    re.IGNORECASE,
)


def joined_facts(*, text: str) -> list[str]:
    """The clauses of a sentence that are facts of their own, their subject repeated; else empty."""
    bare = text.rstrip(" .!")
    if _LEANING.search(bare) or " and " not in bare or is_imperative(text=bare):
        return []
    if is_weekly_list(text=bare):
        return []
    head = head_of(bare, past=is_past(text=bare))
    if head is None or head.verb in _REPORTS:
        return []
    clauses: list[str] = []
    start, opening, joint = 0, "", ""
    for match in _JOINT.finditer(bare):
        left = opening + bare[start : match.start()]
        told = _fact(left=left, right=bare[match.end() :], first=head)
        if told is not None:
            clauses.append(left)
            opening, gone = told
            start, joint = match.end() + gone, match.group()
            head = head_of(opening + bare[start:]) or head
    return [*clauses, opening + bare[start:]] if "and" in joint else []


def _fact(*, left: str, right: str, first: Head) -> tuple[str, int] | None:
    """What to put before the right side and how much of it goes, or None where it stays joined."""
    past = is_past(text=left)
    here = head_of(left, past=past)
    if here is None or not _is_complete(here) or here.verb in _REPORTS:
        return None
    also = _ALSO.match(right)
    gone = also.end() if also else 0
    words = words_of(right[gone:])
    if not words or _POINTING & set(words[1:]) - ({"her"} if words[0] != "her" else set()):
        return None
    opener = words[0].split("'")[0]
    of_person = gender_of(name=first.subject, text=left)
    if words[0] in _POSSESSIVES:
        own = head_of(right)
        if (
            own is None
            or not _is_complete(own)
            or not _means(words[0], _POSSESSIVES, here, of_person)
        ):
            return None
        if first.subject.lower() in PRONOUNS:
            return "", 0
        return f"{_genitive(here.subject)} ", len(words[0]) + 1
    if opener in _PERSONAL or _may_be_verb(words[0], several=here.several):
        if opener in _PERSONAL:
            if "'" in words[0] or not _means(opener, _PERSONAL, here, of_person):
                return None
            gone += len(opener) + 1
        shared = head_of(f"{here.subject} {right[gone:]}")
        if shared is None or shared.subject != here.subject or not _apart(here, shared, left):
            return None
        return f"{here.subject} ", gone
    own = head_of(right)
    if past or own is None or not _is_complete(own) or gone or words[0] in PRONOUNS:
        return None
    return None if words[0] == "the" and _is_part(own) else ("", 0)


def _is_part(head: Head) -> bool:
    """Whether "the notice period is …" may only say something of what was told before it."""
    placed = head.verb == "be" and words_of(head.rest)[0] in PREPOSITIONS
    return not placed and head.verb not in _ENDS


def _may_be_verb(word: str, *, several: bool) -> bool:
    return word in THIRD or word in BE_HAVE[several] or (several and word in BASES)


def _apart(left: Head, right: Head, said: str) -> bool:
    """Whether two things told of one subject are of different aspects of it."""
    if not _is_complete(right) or left.habit or {left.verb, right.verb} <= _ENDS:
        return False
    if left.verb not in _STATES and (right.verb not in _STATES or _TIME.search(right.rest)):
        return False
    last = words_of(said)[-1]
    if f"{right.verb}" in AMBIGUOUS and last.endswith("s") and said.split()[-1].islower():
        # "collects stamps and records from the sixties"
        following = words_of(right.rest)[:1]
        return bool(following) and (following[0] in DETERMINERS or right.verb in {"work", "live"})
    return True


def _means(word: str, genders: dict[str, Gender], head: Head, gender: Gender) -> bool:
    """Whether a pronoun in the second half can only mean the subject of the first."""
    if (word in {"they", "their"}) != head.several:
        return False
    wanted = genders[word]
    if word in {"it", "its"}:
        return gender is Gender.UNKNOWN and not _is_somebody(head.subject)
    subject = head.subject.split()
    if subject[0].lower() in _POSSESSIVES or (wanted and not _may_be_somebody(subject[-1])):
        return False
    if wanted is not Gender.UNKNOWN and (gender not in {wanted, Gender.UNKNOWN}):
        return False
    told = f"{head.subject} x {head.rest}"
    others = [
        name
        for name in names_in(head.rest)
        if is_person(name, text=told) or is_given_name(name=name)
    ]
    beside = re.search(r"\b(?:with|of|to|by|and)\s(?:\w+\s)?[A-Z]", head.rest)
    # "Lena is my boss" speaks of one, "Lena knows my boss" of two.
    people = set() if head.verb == "be" else PEOPLE_NOUNS & set(words_of(head.rest))
    return not (others or beside or people)


def _may_be_somebody(word: str) -> bool:
    return word[:1].isupper() or word.lower() in KIN | PEOPLE_NOUNS | PETS | {"he", "she"}


def _is_somebody(subject: str) -> bool:
    words = words_of(subject)
    return bool({words[0], words[-1]} & (KIN | {"he", "she", "i"})) or bool(KIN & set(words))


def _genitive(subject: str) -> str:
    plural = subject.endswith("s") and subject.rpartition(" ")[2].islower()
    return f"{subject}'" if plural else f"{subject}'s"


def _is_complete(head: Head) -> bool:
    """Whether a verb has what it is said of: "lives in Ghent", and not "lives"."""
    words = words_of(head.rest)
    told = content_words(head.rest) or {"me", "us"} & set(words)
    return bool(told) and words[-1] not in PREPOSITIONS
