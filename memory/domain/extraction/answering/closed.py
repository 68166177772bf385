"""Closed questions of what lasts about somebody: "Do you live in Lyon?", "You're a nurse, right?".

What is offered, what holds at this moment only and what somebody is asked to do are none of these.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..language.declaratives import BE, DO, HAVE
from ..language.leads import strip_lead
from ..language.verbs import BASES, PARTICIPLES, PAST_BASES, THIRD, is_past_form
from ..language.words import (
    KIN,
    PEOPLE_NOUNS,
    PETS,
    PREPOSITIONS,
    content_words,
    word_set,
    words_of,
)

_LEAD = re.compile(
    r"^(?:(?:and|so|but|also|then|oh|wait|just\sto\s(?:confirm|check|clarify|be\s(?:sure|clear)|make\ssure)|to\sconfirm|"
    r"quick\s(?:question|check)|(?:may|can)\si\sask|out\sof\scuriosity|by\sthe\sway|tell\sme|remind\sme|"
    r"(?:do\s)?i\s(?:understand|gather|hear|see|think|believe|take\sit|assume|suppose|remember)(?:\s(?:correctly|right))?(?:\sthat)?|"
    r"(?:did\s)?you\s(?:say|said|mentioned?)(?:\sthat)?|if\si\s(?:remember|recall|understood)\s(?:correctly|right)|"
    r"am\si\sright(?:\sthat|\sin\sthinking(?:\sthat)?)?|is\sit\s(?:true|right|correct)(?:\sthat)?|would\syou\ssay(?:\sthat)?|"
    r"does\sthat\smean(?:\sthat)?|that\smeans|which\smeans)(?:\s?[,:–—-]\s?|\s))+",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"(?:\s?[,–—-]\s?|\s)(?:right|correct|yes|no|true|then|is\sthat\s(?:right|correct|so|true)|am\si\sright|"
    r"(?:do|are|is|have|has|did|does|was|were|can)(?:n['’]t)?\s(?:you|he|she|it|they)|"
    r"if\s(?:i\s(?:remember|recall|understood?)(?:\s(?:it\s)?(?:correctly|right))?|i['’]m\snot\smistaken)|"
    r"i\s(?:take\sit|guess|assume|think|believe|suppose)|by\sany\schance|perhaps|maybe|these\sdays|"
    r"now(?:adays)?|currently|already)$",
    re.IGNORECASE,
)
_ASKS_LAST = re.compile(
    r".*[,:;–—-]\s(?=(?:do|does|did|are|is|was|were|have|has|can)(?:n['’]t)?\s)", re.IGNORECASE
)
# What points at something else, or at this moment, or leaves a choice.
_POINTS = re.compile(
    r"\b(?:it|this|that|these|those|them|there|here|him|hers?|his|she|he|they|their|so|same|else|me|i|we|us|"
    r"or|if|would|could|should|today|tonight|yesterday|tomorrow|right\snow|at\sthe\smoment|just|yet|last\snight|"
    r"on\s\w+days?|next\s\w+|again|anymore|long$|robot|bot|human|ai)\b(?!-)",
    re.IGNORECASE,
)
_MOODS = word_set(
    """
    want mean think know understand remember recall see agree mind wish feel hear realise realize
    suppose believe hope try intend plan care promise swear seem happen get follow accept confirm
    approve trust doubt say object fancy notice expect require do come look wonder find ask
    """
)
_AT_HAND = re.compile(
    r"have\s(?:the|your|time|enough|a\s(?:moment|minute|second|question|preference|particular|specific|ticket|reservation|"
    r"receipt|screenshot|reference|booking|budget|date)|(?:any|some|more|other)\s(?:other|more|further|specific|questions?|ideas?|"
    r"preferences?|doubts?|feedback|suggestions?|thoughts?|comments?|time|problems?|issues?|trouble|luck)|an?\s(?:idea|appointment|order|"
    r"opinion|issue|error|problem)|questions?|access)\b|\bin\smind\b|"
    r"go\s(?:ahead|on|with|for|back|now|over|through|home|out\stonight)\b|"
    r"like\s(?:the|your|my|an?)\s(?:idea|plan|proposal|option|suggestion|look|sound|design|draft|version|copy|list|break)\b",
    re.IGNORECASE,
)
_LIVED = word_set(
    """
    grow live study work attend serve play graduate train learn major own move quit stop marry
    adopt retire lose teach train used
    """
)
_SKILL = re.compile(
    r"(?:swim|drive|ski|skate|cook|sing|dance|ride\sa|read\smusic|touch-type|work\s(?:nights|weekends)|"
    r"(?:speak|understand|read)\s(?-i:[A-Z])\w+|play\s(?:the|an?)\s(?:piano|guitar|violin|drums|cello|flute|instrument)|"
    r"(?:eat|drink|tolerate|digest)\s\w+)\b.*",
    re.IGNORECASE,
)
_STATES = (
    r"vegan|vegetarian|pescatarian|married|single|divorced|engaged|widowed|separated|retired|pregnant|(?:pre-?)?diabetic|"
    r"allergic|intolerant|lactose|gluten|coeliac|celiac|asthmatic|epileptic|dyslexic|colou?r-?\s?blind|deaf|blind|"
    r"(?:left|right)-handed|autistic|religious|(?:self-)?employed|unemployed|freelanc\w+|bilingual|afraid\sof|"
    r"scared\sof|fond\sof|keen\son|into|good\sat|related\sto|called|named|born|based|located|insured|adopted|"
    r"vaccinated|responsible\sfor|in\scharge\sof|living|working\s(?:as|at|in|for|from|with|remotely|part|full|nights)|studying|training\s(?:as|for|to)|"
    r"learning|dating|raising|expecting\s(?:a|twins)|taking\s(?!a\s(?:break|look)|over)[a-z]+|renting|originally|a\sfan|tall|married\sto|"
    r"on\sthe\s(?:\w+\s){1,2}(?:plan|tier|team|board)\b|on\s(?:a\sdiet|medication|insulin|antibiotics|parental|maternity)|the\s(?:\w+\s){0,2}?(?:\w+er|\w+or|\w+ist|lead|head|chief|manager|owner|eldest|oldest|youngest|boss|ceo|cto)\b|"
    r"(?:over|under|about|almost)?\s?\d|(?:from|in|at|near|with|of)\s(?:the\s)?(?-i:[A-Z])\w|(?-i:[A-Z])\w+|"
    r"an?\s(?!bit\b|little\b|moment\b|good\b|bad\b|problem\b)\w|your\s\w"
)
_STATE = re.compile(
    rf"(?:(?:still|also|really|actually|strictly|happily|originally|very|quite)\s)?(?:{_STATES})",
    re.IGNORECASE,
)
_PLAIN_STATE = re.compile(
    r"(?:vegan|vegetarian|pescatarian|married|single|divorced|engaged|widowed|separated|retired|diabetic|"
    r"left-handed|right-handed|unemployed|self-employed|freelance|religious|an?\s(?:[a-z-]+\s){0,2}[a-z-]+)",
    re.IGNORECASE,
)
_BEEN = word_set("lived worked studied owned retired graduated moved quit always got had been")
_ADVERBS = word_set("still also actually really ever always usually often regularly normally")
_TEAM = re.compile(r"your\s(?:team|company|firm|office|department|group|startup|school)\b", re.I)
_CONTRACTED = (
    (re.compile(r"^you['’]re\b", re.I), "you are"),
    (re.compile(r"^you['’]ve\b", re.I), "you have"),
    (re.compile(r"^(your\s\w+|[A-Z]\w+)['’]s\b"), r"\1 is"),
)
_LAUGHS = re.compile(
    r"\b(?:haha+|lol|hehe)\b|[😀-😏😜😝🤣]|\bare\syou\s(?:\w+\s)?an?\s(?:\w+\s)?(?:alien|dragon|wizard|vampire|cat|dog|"
    r"horse|fish|bird|spy|ghost|unicorn|machine)\?$",
    re.IGNORECASE,
)
_MAX_WORDS = 16


@dataclass(frozen=True, slots=True)
class Asked:
    """A closed question taken apart: "Doesn't your son smoke?" asks does, "your son", ["smoke"].

    `aux` is a positive auxiliary, `negated` says that the question denies; `still` that it asks
    whether something has not ended.
    """

    aux: str
    subject: str
    rest: tuple[str, ...]
    negated: bool = False
    still: bool = False


def asked_of(*, question: str) -> Asked | None:
    """The closed question of a lasting fact that a sentence asks, or None."""
    if _LAUGHS.search(question):
        return None
    text = _TAG.sub("", strip_lead(text=question).rstrip("?!. "))
    text = _TAG.sub("", text)
    text = _LEAD.sub("", text)
    last = _ASKS_LAST.match(text)
    text = _LEAD.sub("", text[last.end() :] if last else text)
    if "," in text or len(text.split()) > _MAX_WORDS or _POINTS.search(text):
        return None
    asked = _inverted(text) or _told(text)
    return asked if asked is not None and _lasts(asked) else None


def is_state(*, text: str) -> bool:
    """Whether words are a lasting state or a kind of person ("divorced", "a nurse")."""
    return bool(_PLAIN_STATE.fullmatch(text))


def _inverted(text: str) -> Asked | None:
    words = text.split()
    head = words[0].lower().replace("’", "'") if words else ""
    negated = head.endswith("n't")
    aux = {"can't": "can"}.get(head, head.removesuffix("n't"))
    if aux not in DO | HAVE | BE | {"can"} or len(words) < 3:
        return None
    end = _subject_ends(words, aux)
    return _built(aux, words[1:end], words[end:], negated) if end else None


def _subject_ends(words: list[str], aux: str) -> int:
    """Where what follows the auxiliary stops being the subject; 0 where nothing tells."""
    lows = [word.lower() for word in words]
    if lows[1] == "you":
        return 2
    if lows[1] not in {"your", "the"} and not words[1][:1].isupper():
        return 0
    people = KIN | PEOPLE_NOUNS | PETS
    for at in range(2, len(words)):
        if lows[1] in {"your", "the"} and at == 2:
            continue
        begun = (
            lows[at] in BASES
            if aux in DO
            else lows[at] in PARTICIPLES
            if aux in HAVE
            else bool(_STATE.match(" ".join(words[at:])))
        )
        if begun or lows[at - 1] in people:
            return at
    return 0


def _told(text: str) -> Asked | None:
    """ "You work at Renault", "your birthday is in June": a statement with a question mark."""
    for pattern, whole in _CONTRACTED:
        text = pattern.sub(whole, text)
    words = text.split()
    lows = [word.lower().replace("’", "'") for word in words]
    if len(words) < 3 or lows[0] not in {"you", "your"}:
        return None
    for at in range(1, min(5, len(words) - 1)):
        word, positive = lows[at], lows[at].removesuffix("n't")
        if lows[0] == "your" and at == 1:
            continue
        if positive in BE | HAVE | DO and (positive not in HAVE or lows[at + 1] in PARTICIPLES):
            denied = lows[at + 1] in {"not", "never"}
            rest = words[at + 1 + denied :]
            return _built(positive, words[:at], rest, denied or word != positive)
        if word in _ADVERBS:
            continue
        tail = words[at + 1 :]
        if lows[0] == "you":
            past = is_past_form(word=word) and word in PAST_BASES
            base = PAST_BASES[word] if past else word
            before = [each for each in words[1:at] if each.lower() in _ADVERBS]
            if base not in BASES and base != "have":
                return None
            return _built("did" if past else "do", words[:1], [*before, base, *tail], False)
        if word in THIRD or word == "has":
            return _built("does", words[:at], [THIRD.get(word, "have"), *tail], False)
    return None


def _built(aux: str, subject: list[str], rest: list[str], negated: bool) -> Asked | None:
    still = bool(rest) and rest[0].lower() == "still"
    rest = [word for word in rest if word.lower() not in {"still", "also", "actually", "really"}]
    if not rest or not subject:
        return None
    if aux in HAVE and rest[0].lower() == "got":
        aux, rest = ("does" if aux == "has" else "do"), ["have", *rest[1:]]
    if any(word.lower() in PARTICIPLES | PREPOSITIONS - {"of"} for word in subject):
        return None
    return Asked(aux, " ".join(subject), tuple(rest), negated, still)


def _lasts(asked: Asked) -> bool:
    """Whether what is asked holds beyond this moment and is somebody's own."""
    rest = " ".join(asked.rest)
    verbs = [word.lower() for word in asked.rest if word.lower() not in _ADVERBS]
    if not verbs or not content_words(rest):
        return False
    of_thing = asked.subject.lower().startswith("the ")
    if of_thing and not any(char.isdigit() or char.isupper() for char in rest):
        return False
    if asked.aux in {"do", "does"}:
        if verbs[0] == "need" and len(words_of(rest)) < 3:
            return False
        return verbs[0] not in _MOODS and not _AT_HAND.search(rest)
    if asked.aux == "did":
        return verbs[0] in _LIVED or verbs[:2] == ["go", "to"]
    if asked.aux in HAVE:
        return asked.rest[0].lower() in {"ever", "always", "never"} or verbs[0] in _BEEN
    if asked.aux == "can":
        return bool(_SKILL.fullmatch(rest))
    if _TEAM.match(asked.subject) and "ready" in verbs:
        return False
    return bool(_STATE.match(rest))
