"""What a yes or a no to a closed question says, as a whole sentence of whoever gives it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..language.declaratives import BE, DO
from ..language.syntax import has_verb
from ..language.tense import is_past
from ..language.verbs import past_of, third_person
from ..language.words import DETERMINERS, PREPOSITIONS, capitalised, content_words, words_of
from .closed import Asked, asked_of, is_state

_ECHO = r"(?:i|we|she|he|they|it|you)\s(?:\w+ly\s|still\s|sure\s)?"
_YES = (
    r"yes|yea|yeah|yep|yup|yess|ya|mhm|aye|correct|exactly|definitely|absolutely|of\scourse|indeed|right|true|totally|"
    r"certainly|precisely|affirmative|spot\son|sure|(?:you\s)?sure\sdo|you\sbet|guilty(?:\sas\scharged)?|very(?:\smuch\sso)?|100\s?%|"
    r"that['’]s\s(?:right|correct|true|me|it)|that\sis\s(?:right|correct|true)|you['’]re\sright|you\sgot\sit|"
    rf"{_ECHO}(?:do|does|am|is|are|did|have|has|was|were|can)|still\s(?:do|am|there)|proudly|(?:i['’]m\s)?afraid\sso|"
    r"unfortunately|sadly|luckily|since\sforever"
)
_NO = (
    r"no|nope|nah|naw|negative|wrong|incorrect|not\sat\sall|not\sme|no\sway|none|"
    r"(?:(?:i['’]m\s)?afraid|sadly|unfortunately|definitely|absolutely|certainly|of\scourse|luckily|thankfully)\snot|"
    rf"{_ECHO}(?:do|does|am|is|are|did|have|has|was|were|can)(?:n['’]t|\snot)|{_ECHO}cannot|(?:i['’]m|she['’]s|he['’]s|they['’]re|it['’]s)\snot"
)
_HOW_OFTEN = (
    r"never(?:\s(?:have|did|do|ever))?|not\sany\s?more|no\slonger|not\syet|not\sreally|used\sto|sometimes|rarely|seldom|"
    r"often|occasionally|usually|mostly|hardly\sever|always"
)
_GAP = r"[\s,.!:;–—-]*"
_REPLY = re.compile(
    rf"(?:(?:oh|ah|well|hm+|haha|lol|so|but|and|good\s(?:guess|question|point|idea)){_GAP})*"
    rf"(?:(?:(?P<no>{_NO})|(?P<often>{_HOW_OFTEN})|(?P<yes>{_YES}))(?![\w’']){_GAP})+"
    rf"(?:(?:thanks|lol|haha|btw|tbh){_GAP})*",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"(?:no|nope|nah|wrong|not\s(?:quite|exactly))[\s,.:;–—-]+(?:(?:actually|rather|it['’]s|that['’]s|more\slike)\s)?(?P<other>[^,;.!?]{2,50})[.!]*",
    re.IGNORECASE,
)
_NO_OTHER = re.compile(
    r"(?:thanks?|thank|sorry|but|because|why|not|never|unfortunately|sadly|please|need|worries|problem|idea|way|clue|"
    r"longer|yet|really|though|later|maybe|afraid|i|we|you|he|she|they|it|that|one|more|and|kidding|joking|just\s(?:kidding|joking))\b",
    re.IGNORECASE,
)
# "No, I left in May": a clause that leans on what was asked.
_LEANING = re.compile(
    r"(?:(?P<no>no|nope|nah)|(?P<ended>not\sany\s?more|no\slonger)|yes|yeah|yep|yup)[\s,.!–—-]+(?P<clause>(?:I|we)(?:['’]ve)?\s[^,;.!?]{4,50})[.!]*",
    re.IGNORECASE,
)
_LITTLE = 3
# Of how many words another value is: "Linux", "with my boyfriend and our parrot".
_MOST = 5
_MOST_PLACED = 9
# "Only for reading": it is so within bounds.
_PARTLY = re.compile(
    r"(?:only|just|mostly|mainly)\s(?:for|on|in|at|when|with|during|after|before|to)\s",
    re.IGNORECASE,
)
_SOMETHING = re.compile(r"\b(?:any\w*|some(?:thing|one|body|where))\b", re.IGNORECASE)
_FLIPPED = {"you": "I", "your": "my", "yours": "mine", "yourself": "myself"}
_PERSON = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Reply:
    """What a short reply says: `denies`, or how often, or what is so instead.

    `bare` says that the other value came without a no ("divorced").
    """

    denies: bool = False
    often: str = ""
    other: str = ""
    bare: bool = False


def closed_answer(*, question: str, answer: str) -> str:
    """The sentence that a yes or a no stands for ("I don't have kids"), in the answerer's voice.

    "" where the question asks no lasting fact or the answer leaves open what holds.
    """
    leaning = _LEANING.fullmatch(answer.strip())
    if leaning and not _REPLY.fullmatch(answer.strip()):
        return _leant(question, leaning)
    reply = _read(answer)
    asked = asked_of(question=question) if reply is not None else None
    if reply is None or asked is None:
        return ""
    if reply.bare and not _fits(asked, reply.other):
        return ""
    if reply.other:
        return capitalised(_instead(asked, reply.other))
    if asked.negated and not reply.denies and not _AGREES.match(answer):
        return ""
    denies = reply.denies or asked.negated
    if not denies and reply.often in _AFFIRMS and _SOMETHING.search(" ".join(asked.rest)):
        return ""
    return capitalised(_said(asked, denies, reply.often))


def _fits(asked: Asked, other: str) -> bool:
    """Whether words without a yes or a no can only be what is so ("divorced")."""
    if _PARTLY.match(other):
        return True
    if asked.aux in BE and asked.rest[0].lower() == "your" and other[:3].lower() == "my ":
        return True
    return asked.aux in BE and is_state(text=other) and is_state(text=" ".join(asked.rest))


def _leant(question: str, leaning: re.Match[str]) -> str:
    clause = leaning.group("clause")
    told = content_words(clause)
    asked = asked_of(question=question) if is_past(text=clause) and len(told) <= _LITTLE else None
    if asked is None or asked.negated or set(told) & set(words_of(question)):
        return ""
    often = "no longer" if leaning.group("ended") else ""
    said = _said(asked, bool(leaning.group("no")), often)
    return f"{capitalised(said)}; {clause}"


def whether(*, question: str) -> str:
    """A closed question as "I live in Lyon", for "asked whether …"; "" where it is none."""
    asked = asked_of(question=question)
    return "" if asked is None else _said(asked, asked.negated, "")


_AGREES = re.compile(
    r"(?:right|correct|exactly|true|that['’]s\s(?:right|correct|true)|yes|yep|yeah)\b", re.I
)
_AFFIRMS = frozenset({"", "always", "often", "usually", "mostly", "sometimes"})


def _read(answer: str) -> _Reply | None:
    text = answer.strip()
    if len(text) > 60:
        return None
    match = _REPLY.fullmatch(text)
    if match:
        often = " ".join((match.group("often") or "").lower().split()[:3])
        often = "never" if often.startswith("never") else often
        denies = bool(match.group("no")) or often in _DENIES
        return _Reply(denies, often)
    other = _OTHER.fullmatch(text)
    said = other.group("other").strip() if other else text.rstrip(".! ")
    most = _MOST_PLACED if other and words_of(said)[0] in PREPOSITIONS else _MOST
    if _NO_OTHER.match(said) or len(said.split()) > most:
        return None
    if has_verb(text=said) and not is_state(text=said):
        return None
    if not content_words(said) and not said[:1].isdigit():
        return None
    return _Reply(True, "", said, bare=other is None)


_DENIES = frozenset({"never", "not anymore", "not any more", "no longer", "not yet", "not really"})


def _said(asked: Asked, denies: bool, often: str) -> str:
    """The statement; how often it holds stands before its verb."""
    subject = _flip(asked.subject)
    aux = _own(asked.aux, asked.subject)
    rest = [_flip(word) for word in asked.rest]
    ever = rest[0].lower() == "ever"
    rest = rest[1:] if ever else rest
    if often in {"not anymore", "not any more", "no longer"} or (denies and asked.still):
        often, denies = "no longer", False
    elif often == "never":
        denies = False
    elif often == "not really":
        often, denies = "", True
    if often == "used to":
        return " ".join([subject, "used to", "be" if aux in BE | {"am"} else "", *rest]).replace(
            "  ", " "
        )
    yet = " yet" if often == "not yet" else ""
    often = (
        "" if often == "not yet" else "still" if asked.still and not (often or denies) else often
    )
    if denies and ever:
        often, denies = "never", False
    before = [often] if often else []
    if asked.aux not in DO:
        verb = "cannot" if denies and aux == "can" else f"{aux} not" if denies else aux
        return " ".join([subject, verb, *before, *rest]) + yet
    if denies:
        return " ".join([subject, f"{aux} not", *before, *rest]) + yet
    adverbs = [word for word in rest[:1] if word.lower() in {"always", "usually", "often"}]
    base = rest[len(adverbs)].lower()
    verb = (
        past_of(base=base) if aux == "did" else third_person(base=base) if aux == "does" else base
    )
    return " ".join([subject, *before, *adverbs, verb, *rest[len(adverbs) + 1 :]])


def _instead(asked: Asked, other: str) -> str:
    """The statement with `other` in the place of what was asked ("no, Linux"), or ""."""
    if asked.negated:
        return ""
    rest = list(asked.rest)
    heads = 0 if asked.aux not in DO and asked.aux not in {"have", "has", "can"} else 1
    places = [at for at, word in enumerate(rest) if word.lower() in PREPOSITIONS and at >= heads]
    first = words_of(other)[0]
    other = other[:1].lower() + other[1:] if first == "my" else other
    if _PARTLY.match(other):
        kept = rest
    elif not heads and rest[0].lower() == "your" and first not in DETERMINERS:
        return _said(Asked("is", " ".join(rest), (other,)), False, "")
    elif first in PREPOSITIONS:
        kept = rest[: places[0]] if places else rest[:heads]
    elif places:
        kept = rest[: places[-1] + 1]
    else:
        kept = rest[:heads]
        article = heads == 0 and rest[0].lower() in {"a", "an"} and first not in DETERMINERS
        if article and other[:1].islower() and not first.endswith(("an", "ed")):
            other = f"{'an' if first[0] in 'aeiou' else 'a'} {other}"
        if heads and len(rest) == 1:
            return ""
    return _said(Asked(asked.aux, asked.subject, (*kept, other)), False, "")


def _own(aux: str, subject: str) -> str:
    return {"are": "am", "were": "was"}.get(aux, aux) if subject.lower() == "you" else aux


def _flip(text: str) -> str:
    return _PERSON.sub(lambda found: _FLIPPED[found.group().lower()], text)
