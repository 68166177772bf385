"""A sentence without its opener and its tag, and its independent clauses."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .grammar import has_verb, is_question, opens_clause, words_of

_LEAD = re.compile(
    r"(?:(?:oh|ah|well|so|ok|okay|yes|yeah|yep|yup|no|nope|nah|hi|hey|hello|hiya|yo|morning|good\s"
    r"(?:morning|evening|afternoon|day)|and|but|btw|by\sthe\sway|also|fyi|sorry|actually|hmm?|great|"
    r"cool|thanks|thank\syou|thx|cheers|nice|perfect|right|sure|anyway|please\snote(?:\sthat)?|note"
    r"\sthat|note\sto\sself|for\sthe\s(?:record|wiki|handbook|minutes|notes|file)|just\sso\syou\s"
    r"know|heads\sup|quick\s(?:update|one|notes?|question)|(?:one|another|first)\s(?:more\s)?thing|"
    r"plus|wait|lol|haha|in\sfact|to\sbe\sclear|of\scourse|exactly|fine|all\s?right|lovely|"
    r"wonderful|good\s(?:point|call|news)|bad\snews|correct|true|indeed|ugh|wow|phew|look|listen|"
    r"sadly|luckily|fortunately|unfortunately|interesting|understood|agreed|before\si\sforget|"
    r"while\si\sthink\sof\sit|reminder|news|rule\sfor\severyone|update|correction|and\syes)\b"
    r"(?:\s(?-i:[A-Z])\w+(?=\s*[,!]))?(?:\s*[,:!.…–—-]+\s*|\s+(?=(?:i|we|my|our|the|he|she|it|they|"
    r"there|it's|i'm|i've|i'll|we're|we've|please|don't|remember|also|yes|no|btw|so|and|not)\b)))+",
    re.IGNORECASE,
)
_PIN_LEAD = re.compile(
    r"[^.!?]{0,25}?\b(?:(?:please\s)?(?:don't|do\snot|never)\s(?:you\s)?forget|(?:please\s)?"
    r"remember|keep\sin\smind|make\ssure\syou\sremember|bear\sin\smind|important)\b"
    r"(?:\s(?:this|please|also))?\s*(?:[:,–-]+\s*|that\s+|\s+)(?!to\b)(?=\S)",
    re.IGNORECASE,
)
_PIN_TAIL = re.compile(
    r"[,;.]?\s(?:and\s|so\s)?(?:please\s)?(?:remember\s(?:this|that)|don't\sforget(?:\sthat|\sthis|"
    r"\sit)?|keep\sthat\sin\smind|keep\sin\smind)[.!]*$",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:,?\s(?:btw|by\sthe\sway|fyi|please|lol|haha|thanks|thx|thank\syou|too\sthough|though|"
    r"i\sthink|you\sknow|anyway|right|okay?|whatever|:\)|:\(|;\)|:D|xd|ugh)\??)(?=[.!]*$)",
    re.IGNORECASE,
)
_JOINT = re.compile(r",?\s(?:and\salso|and|but)\s(?=\S)|[;,]\s(?=\S)|\s[–—-]\s", re.IGNORECASE)
_BEFORE_QUESTION = re.compile(r"(?:[,;:]|\s[–—-])\s(?:(?:and|but|so)\s)?(?=\w)", re.IGNORECASE)
_WHOLE = re.compile(
    r"(?:if|when|whenever|while|once|unless|because|since|as|before|after|for|how|where|to)\b",
    re.IGNORECASE,
)
_WEAK_SUBJECT = re.compile(r"(?:it|that|this|they|which|these|those)\b", re.IGNORECASE)
_FEWEST_WORDS = 3
_NONE_LEFT = 1


@dataclass(frozen=True, slots=True)
class Stripped:
    """A sentence without its opener and tag, and whether it asks to be remembered."""

    text: str
    is_pinned: bool


def stripped(text: str) -> Stripped:
    """The sentence without greetings, openers, tags and the words that ask to remember it."""
    is_pinned = False
    text = text.strip()
    tail = _PIN_TAIL.search(text)
    if tail and tail.start() > 8:
        text, is_pinned = text[: tail.start()], True
    for _ in range(2):
        lead = _LEAD.match(text)
        if lead and lead.end() < len(text):
            text = text[lead.end() :]
        pin = _PIN_LEAD.match(text)
        if pin and "?" not in text and len(words_of(text[pin.end() :])) > _NONE_LEFT:
            text, is_pinned = text[pin.end() :], True
    for _ in range(3):
        tag = _TAIL.search(text, max(0, len(text) - 40))
        if tag is None:
            break
        text = text[: tag.start()] + text[tag.end() :]
    return Stripped(text.strip(" ,;:–—-"), is_pinned)


def split_question(sentence: str) -> tuple[str, str]:
    """A statement and the question that follows it in one sentence, or the sentence and ""."""
    if not sentence.rstrip().endswith("?") or is_question(sentence.rstrip("? ")):
        return sentence, ""
    for match in _BEFORE_QUESTION.finditer(sentence):
        head, tail = sentence[: match.start()], sentence[match.end() :]
        if is_question(tail.rstrip("? ")) and has_verb(head):
            return head, tail
    return sentence, ""


def clauses_of(sentence: str) -> list[str]:
    """The independent clauses of a sentence: cut where a joint is followed by subject and verb.

    A sentence that begins with a condition or a reason stays whole, and so does what stands in
    brackets or quotation marks.
    """
    if _WHOLE.match(sentence):
        return [sentence]
    pieces: list[str] = []
    start = 0
    for match in _JOINT.finditer(sentence):
        head, tail = sentence[start : match.start()], sentence[match.end() :]
        if head.count("(") > head.count(")") or (head.count('"') + head.count("“")) % 2:
            continue
        if _WEAK_SUBJECT.match(tail) or len(words_of(head)) < _FEWEST_WORDS:
            continue
        if len(words_of(tail)) >= _FEWEST_WORDS and has_verb(head) and opens_clause(tail):
            pieces.append(head)
            start = match.end()
    return [*pieces, sentence[start:]]
