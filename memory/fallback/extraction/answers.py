"""A short answer and the question before it as one statement."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .grammar import (
    ADVERBS,
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    PREPOSITIONS,
    VERBS,
    is_finite,
    words_of,
)
from .third_person import Voices, in_third_person, third

_WH = re.compile(
    r"(?P<wh>(?:(?:at|for|from|in|on|by|until|to|of|with|since)\s)?"
    r"(?:who|what|when|where|why|which|whose|how)"
    r"(?:\s(?:many|much|long|often|far|big|old|late|early|large))?)"
    r"(?P<short>'s|'re|'ll|'d)?\b\s*(?P<rest>.*)$",
    re.IGNORECASE,
)
_OPENERS = re.compile(
    r"\A(?:(?:and|ok|okay|so|noted|great|got\sit|thanks|understood|sure|lovely|nice|fine|sorry|"
    r"of\scourse|right|good|also|then|all\sright|oh|wonderful|perfect|may\si\sask|do\syou\sknow|"
    r"can\syou\stell\sme|could\syou\stell\sme|please\stell\sme)\b[,.!:]?\s*)+",
    re.IGNORECASE,
)
YES = re.compile(
    r"(?:yes|yeah|yep|yup|sure|correct|exactly|right|of\scourse|definitely|absolutely|indeed)\b"
    r"[,.! ]*",
    re.IGNORECASE,
)
NO = re.compile(r"(?:no|nope|nah|not\sreally|not\syet|never)\b[,.! ]*", re.IGNORECASE)
_SENTENCE_ENDS = ".!?\n"
_OFFER = re.compile(r"\b(?:shall|should|could|can|would|want\sme)\b", re.IGNORECASE)
_TOPIC_LEAD = re.compile(r"\A(?:any|what\sabout|how\sabout|and|about)\s", re.IGNORECASE)
_ADVERB_TAIL = re.compile(r"\s(?:today|now|exactly|then|currently|again|please)$", re.IGNORECASE)
_SHORT_FORMS = {"'s": "is", "'re": "are", "'ll": "will", "'d": "would"}
_MEASURES = frozenset(["many", "much", "long", "often", "far", "big", "old", "late", "early"])
_DO = frozenset(["do", "does", "did"])
_LONGEST_TOPIC = 8


@dataclass(frozen=True, slots=True)
class _Parts:
    """A question's parts: "how many | guests | do | you expect"."""

    wh: str
    noun: str
    auxiliary: str
    left: str


def last_question(text: str) -> str:
    """The last question of a message, without its openers and mark; "" where it asks none."""
    end = text.rfind("?")
    if end < 0:
        return ""
    start = max(text.rfind(sign, 0, end) for sign in _SENTENCE_ENDS) + 1
    return _OPENERS.sub("", text[start:end].strip(), count=1).strip()


def is_open(question: str) -> bool:
    """Whether a question wants more than yes or no."""
    return _WH.match(question) is not None or not _is_inverted(question)


def is_offer(question: str) -> bool:
    """Whether a question asks what the agent should do."""
    return _OFFER.search(question) is not None


def answered(question: str, answer: str, voices: Voices, *, agrees: bool) -> str:
    """The statement that question and answer make together, "" where they make none.

    `voices` are those of the one who asks: their "you" is the one who answers. `agrees` says that
    the answer begins with a yes, so that what follows only adds to it.
    """
    asked = _ADVERB_TAIL.sub("", in_third_person(question, voices))
    answer = answer.rstrip(" .!,")
    match = _WH.match(asked)
    if match is None:
        if _is_inverted(asked):
            told = affirmed(question, voices, denied=False) if agrees else ""
            return f"{told}: {answer}" if told else _quoted(asked, answer)
        topic = _TOPIC_LEAD.sub("", asked, count=1)
        return f"{_upper(topic)}: {answer}" if len(words_of(topic)) <= _LONGEST_TOPIC else ""
    parts = _parts(match)
    if parts is None:
        noun = _TOPIC_LEAD.sub("", match["rest"], count=1)
        return f"{_upper(noun)}: {answer}" if noun and len(words_of(noun)) <= _LONGEST_TOPIC else ""
    if parts.auxiliary not in AUXILIARIES:
        return f"{_upper(answer)} {parts.auxiliary} {parts.left}".rstrip()
    return _stated(parts, answer, voices)


def affirmed(question: str, voices: Voices, *, denied: bool) -> str:
    """ "Do you live alone?" with a yes as "Sarah lives alone"; "" where it offers something."""
    asked = in_third_person(question, voices)
    tokens = asked.split()
    if not _is_inverted(asked) or _OFFER.search(asked) or voices.speaker in asked:
        return ""
    subject, verb = _subject_and_verb(" ".join(tokens[1:]))
    if not verb:
        return ""
    single = subject == voices.addressee
    auxiliary = tokens[0].lower()
    if single:
        auxiliary = {"are": "is", "do": "does", "have": "has", "were": "was"}.get(
            auxiliary, auxiliary
        )
    if denied:
        return f"{_upper(subject)} {auxiliary} not {verb}"
    if auxiliary in {"do", "does"}:
        first = verb.split()[0]
        said = third(first) if auxiliary == "does" else first
        return f"{_upper(subject)} {said}{verb[len(first) :]}"
    return f"{_upper(subject)} {auxiliary} {verb}"


def _parts(match: re.Match[str]) -> _Parts | None:
    rest = match["rest"].strip()
    if match["short"]:
        rest = f"{_SHORT_FORMS[match['short'].lower()]} {rest}"
    wh = match["wh"].lower()
    tokens = rest.split()
    noun: list[str] = []
    while tokens and tokens[0].lower() not in AUXILIARIES:
        verbal = is_finite(tokens[0].lower(), "x")
        if (verbal and (noun or wh in {"who", "what", "which"})) or len(noun) > 3:
            break
        noun.append(tokens.pop(0))
    if not tokens:
        return None
    return _Parts(wh, " ".join(noun), tokens[0].lower(), " ".join(tokens[1:]))


def _stated(parts: _Parts, answer: str, voices: Voices) -> str:
    if (
        parts.wh in {"who", "what"}
        and parts.left.split()[:1]
        and (parts.left.split()[0].lower() in PREPOSITIONS)
    ):
        return f"{_upper(answer)} {parts.auxiliary} {parts.left}"
    subject, verb = _subject_and_verb(parts.left)
    if not subject:
        return ""
    single = subject == voices.addressee
    auxiliary = "is" if parts.auxiliary == "are" and single else parts.auxiliary
    if auxiliary in _DO:
        first = verb.split()[0] if verb else ""
        if not first:
            return ""
        if auxiliary == "did":
            said = f"did {verb}"
        elif (auxiliary == "does" or single) and first.lower() in VERBS:
            said = third(first.lower()) + verb[len(first) :]
        else:
            said = verb
    else:
        said = f"{auxiliary} {verb}".strip()
    head = f"{_upper(subject)} {said}"
    if parts.wh in {"where", "when"}:
        return f"{head} {_lowered(answer)}"
    if not parts.noun:
        return f"{head}: {answer}"
    if parts.wh.split()[-1] in _MEASURES:
        known = parts.noun.lower() in answer.lower()
        return f"{head}: {answer}" if known else f"{head}: {answer} {parts.noun}"
    return f"{head} ({parts.noun}): {answer}"


def _is_inverted(question: str) -> bool:
    first = words_of(question)[:1]
    return bool(first) and first[0] in AUXILIARIES


def _subject_and_verb(text: str) -> tuple[str, str]:
    """ "the contract start" as "the contract" and "start"."""
    tokens = text.split()
    for place in range(1, len(tokens)):
        word = tokens[place].rstrip("?.,!").lower()
        if place == 1 and tokens[0].lower() in DETERMINERS:
            continue
        ends = word in VERBS or word in {"be", "been", "available", "ready", "due"}
        ends = ends or word.endswith("ing") or (word.endswith("ed") and len(word) > 4)
        if ends or (word in PREPOSITIONS and word != "of"):
            return " ".join(tokens[:place]), " ".join(tokens[place:])
    return text, ""


def _quoted(asked: str, answer: str) -> str:
    return f"Asked “{asked[:1].lower()}{asked[1:]}”, the answer was: {answer}"


def _lowered(answer: str) -> str:
    first = words_of(answer)[:1]
    closed = PREPOSITIONS | DETERMINERS | ADVERBS | CONJUNCTIONS
    return answer[:1].lower() + answer[1:] if first and first[0] in closed else answer


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
