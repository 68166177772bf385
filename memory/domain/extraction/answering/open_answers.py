"""Answers to who, what, which, when, where and how, completed to whole sentences."""

from __future__ import annotations

import re

from ..language.declaratives import BE, DO, HAVE, declarative, form_of_be, placed, with_noun
from ..language.verbs import AMBIGUOUS, BASES, GERUNDS, MODALS, THIRD, is_past_form
from ..language.words import DETERMINERS, PREPOSITIONS, capitalised
from .narrowed import who_and_how

_WH = re.compile(
    r"^(?P<wh>who(?:m)?|where|when|why|how\s(?:many|much)(?:\s(?!do|does|did|is|are|will|can|"
    r"may|must|might|could|shall|should|have|has)"
    r"[\w-]+){0,2}|how\s(?:long|often|far|big|old|late|early)|how|"
    r"(?:at\s)?what\stime|(?:what|which)(?:\s(?!do\b|does\b|did\b|is\b|are\b|was\b|were\b|will\b|"
    r"would\b|can\b|may\b|must\b|might\b|could\b|shall\b|"
    r"should\b|have\b|has\b|am\b)[\w-]+){0,3})(?P<clitic>['’]s|['’]re)?"
    r"(?:\s(?P<rest>.+))?$",
    re.IGNORECASE,
)
_WHAT_SAID = re.compile(
    r"(?:do|does|did|has|have)\s(?P<who>(?:the|your|my|our)?\s?[\w’'-]+(?:\s[\w’'-]+)?)\s"
    r"(?:say|said|recommend(?:ed)?|advise[d]?|suggest(?:ed)?|prescribe[d]?)",
    re.IGNORECASE,
)
# How it goes, and no way of doing something.
_GOES_SO = re.compile(
    r"(?:much\s|far\s|a\s(?:bit|lot|little)\s)?(?:better|worse|fine|well|good|great|badly|slowly|ok|okay|so-so|not\s(?:too|so)\sbad)\b",
    re.IGNORECASE,
)
_SUBJECTS = frozenset({"i", "we", "you", "he", "she", "they", "it"})
_FOR_WHOM = frozenset({"for", "with", "from", "by", "about"})
_KIND = re.compile(r"(?:what|which)\s(?:kind|sort|type|make|model|brand|breed)", re.IGNORECASE)


def answered_openly(*, asked: str, given: str) -> str | None:
    """The answer to a question that opens with a question word; None where it is no such question.

    "" where the two do not make a sentence.
    """
    match = _WH.match(asked)
    return None if match is None else _opened(match, given)


def _predicates(word: str) -> bool:
    """Whether what follows "are" or "will" is its predicate, so that no subject stands between."""
    return (
        word in GERUNDS
        or word in {"on", "in", "at", "there", "involved", "free", "left", "be"}
        or (word in BASES and word not in AMBIGUOUS)
    )


def _opened(match: re.Match[str], given: str) -> str:
    if match.group("wh").lower().startswith(("who", "how many")):
        who, then = who_and_how(given=given)
        told = _composed(match, who) if then else ""
        if told:
            return told + then
    return _composed(match, given)


def _composed(match: re.Match[str], given: str) -> str:
    wh = " ".join(match.group("wh").lower().split())
    rest = (match.group("rest") or "").split()
    if match.group("clitic"):
        rest = ["is" if "s" in match.group("clitic") else "are", *rest]
    if not rest and wh.startswith("how ") and not wh.startswith(("how many", "how much")):
        return ""
    if wh == "why" or (wh == "how" and (len(given.split()) < 2 or _GOES_SO.match(given))):
        return ""
    if wh.startswith("how many ") and len(wh.split()) == 4 and not rest:
        return f"{given} {' '.join(wh.split()[2:])}"
    asked_of = wh.split()
    if not rest and asked_of[0] in {"what", "which"}:
        for index, word in enumerate(asked_of[1:], 1):
            if is_past_form(word=word) or word in THIRD:
                return f"{capitalised(given)} {' '.join(asked_of[index:])}"
    if not rest and " " not in wh:
        return ""
    if not rest and _KIND.fullmatch(wh):
        return f"It is {given}"
    if not rest:
        noun = re.sub(r"^(?:at\s)?(?:what|which)\s?", "", wh)
        if wh.startswith(("how many", "how much")):
            noun = "number of " + wh.split(None, 2)[2] if len(wh.split()) > 2 else ""
        be = "is" if noun.startswith("number of") else form_of_be(noun)
        return f"The {noun} {be} {given}" if noun else ""
    aux = rest[0].lower()
    asks_who = wh == "who" or wh.startswith(("how many", "which ", "what "))
    if asks_who and aux in BE | MODALS and len(rest) > 1 and _predicates(rest[1].lower()):
        # "How many are coming?" asks for the subject: "fifteen are coming".
        counted = wh.split(None, 2)[2] if wh.startswith("how many ") and len(wh.split()) > 2 else ""
        return " ".join(part for part in [given, counted, *rest] if part)
    if wh in {"who", "what"} and aux not in BE | DO | HAVE | MODALS:
        return f"{given} {' '.join(rest)}" if wh == "who" else ""
    if (
        wh.startswith("how many ")
        and aux in BE
        and len(rest) > 1
        and rest[1].lower() in PREPOSITIONS
    ):
        return f"There {rest[0]} {given} {' '.join([*wh.split()[2:], *rest[1:]])}"
    determined = len(rest) > 1 and rest[1].lower() in DETERMINERS
    verbless = not any(word.lower() in BASES for word in rest[3:])
    if wh == "who" and aux in DO and determined and verbless:
        # "Who does the pilot?" asks for the one who does, with no second verb.
        return f"{given} {' '.join(rest)}"
    if wh in {"who", "whom"} and aux in BE and len(rest) > 2 and rest[-1].lower() in _FOR_WHOM:
        return f"{capitalised(' '.join(rest[1:-1]))} {rest[0]} {rest[-1]} {given}"
    if wh == "who" and len(rest) > 1:
        if aux in BE and rest[1].lower() in PREPOSITIONS and len(given.split()) <= 2:
            return f"{given} {' '.join(rest)}"
        if aux in BE and rest[1].lower() in PREPOSITIONS:
            return f"{capitalised(' '.join(rest[1:]))}: {given}"
        if aux in BE:
            return f"{capitalised(' '.join(rest[1:]))} {rest[0]} {given}"
        if aux in MODALS and rest[1].lower() in BASES | {"be"}:
            return f"{given} {' '.join(rest)}"
    said = _WHAT_SAID.fullmatch(" ".join(rest)) if wh == "what" else None
    if said:
        return f"{capitalised(said.group('who'))} says: {given}"
    if wh == "what" and aux in DO and len(rest) > 3 and rest[-2].lower() in PREPOSITIONS:
        # "What do they want from you?": the answer comes before "from me".
        whole = declarative(rest[:-2], given)
        return capitalised(f"{whole} {' '.join(rest[-2:])}") if whole else ""
    noun = re.sub(r"^(?:what|which)(?:\s(?:kind|sort|type)s?\sof)?\s?", "", wh)
    if noun == wh:
        noun = ""
    # "What medication are you on?", "Which days are you closed?": more follows the subject.
    goes_on = len(rest) > 2 and (rest[-1].lower() in PREPOSITIONS or rest[1].lower() in _SUBJECTS)
    if aux in BE and noun and len(rest) > 1 and not goes_on:
        return f"{capitalised(' '.join(rest[1:]))} {rest[0]} {with_noun(noun, given)}"
    return capitalised(declarative(rest, placed(wh, noun, rest, given)))
