"""Slips put right in the same sentence: "I live in Turku, no wait, Tampere"."""

from __future__ import annotations

import re

from ..clauses import opens_clause
from ..language.syntax import has_verb
from ..language.verbs import MODALS, THIRD, is_finite
from ..language.words import ADVERBS, DETERMINERS, NUMBER_WORDS, PREPOSITIONS, STOPWORDS, words_of
from .right_spots import put_right

_LAUGH = r"(?:(?:haha+|lol|hehe|hah|oh|ah|and|but|er+m?|u+h+m?|u+m+|hm+|ok|okay)[\s,.!]+)*"
# Words by which a speaker breaks off, so that what follows is what they mean.
_HALT = (
    r"no[,\s]+wait|wait[,\s]+(?:no|actually)|(?:haha+|lol|hehe|oops|whoops|sorry|actually|hm+|er+m?|u+h+m?|oh|ah|nah)[,\s]+(?:no|nope|nah)|"
    r"no[,\s]+(?:sorry|actually|make\sthat|i\smean(?:t)?|scratch\sthat)|(?:just\s|only\s)?(?:kidding|joking)|jk|(?:scratch|strike)\sthat|"
    r"i\smean(?:t)?(?:\sto\s(?:say|write|type))?|or\srather|oops|whoops|correction|er+m?|u+h+m?|my\s(?:mistake|bad)|make\sthat|sorry|typo|"
    r"i\sshould\ssay|(?:hang\son|hold\son|wait)(?=[,.:!…–—-])"
)
# "no" and "well" mean it only where a pause follows, and "well" where the end says so.
_CUE = re.compile(
    rf"(?:\s?[,;(–—]\s?|\s?(?:…|\.{{2,3}})\s?|\s-\s|(?<=\w)\s(?=(?:no\swait|or\srather|wait\sno|oops|scratch\sthat)\b)){_LAUGH}"
    rf"(?:(?:{_HALT})\b(?:[\s,.:!…–—-]+(?:{_HALT}|no|nope)\b)*[\s,.:!…–—-]+|no\s(?=\d\d)|(?:no|nope|nah)(?:,\s|\s?[–—-]\s|\.{{3}}\s|…\s)|(?P<well>well),?\s)"
    r"(?P<is>(?:(?:(?:it|that|he|she|they)(?:['’](?:s|re)|\s(?:is|are|was))|make\s(?:it|that)|(?:it|that)\sshould\sbe|actually|rather|only|just)\s)*)",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"(?P<value>[^,;!?…()]+?)(?P<after>\s?[,;!?…)]|(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bSt)(?<!\bMrs)(?<!\bProf)\.+(?=\s|$)|"
    r"\s[–—-]\s|$)"
)
_LAST = re.compile(
    r"[\s,]*(?:\b(?:actually|sorry|lol|haha+|i\smean(?:t)?|rather|of\scourse|obviously|oops|though|then)\b[\s,]*)+$",
    re.I,
)
_NO_VALUE = re.compile(
    r"(?:not|no|never|but|so|because|and|or|if|that|this|thanks?|please|sorry|really|very|too|just|maybe|perhaps|why|what|how|"
    r"nothing|none|problem|worries|thank|me|you|idea|way|kidding|joking|wait|surprise|more|less|again|though|"
    r"wrong|right|correct|incorrect|true|false|fine|ok|okay|good|great|yes|yeah|yep|see|well|like|"
    r"when|where|who|which|there|here|now|today|hello|hi|hey|god|man|dude)\b",
    re.IGNORECASE,
)
_PHRASE = re.compile(r"\s(?=(?:with|and|but|because|since|at|in|for|on|near|where|who|which|by)\s)")
# A figure or a name stands alone for its own kind; what is said beside it comes after the rest.
_BESIDE = re.compile(
    r"\s(?=(?:with|without|because|since|at|in|for|on|near|by|from|until|now|if|when|after|before)\b)"
)
_FIGURE_OR_NAME = re.compile(
    r"[$€£]?\d[\w.,:%]*(?:\s(?:over|by|x|to)\s\d+)?|(?-i:[A-ZÀ-Þ])[\w’'-]+|"
    rf"(?:{'|'.join(word for word in NUMBER_WORDS if len(word) > 2)})",
    re.IGNORECASE,
)
# How something is so, which takes the place of nothing: "I mean originally".
_MANNER = re.compile(
    r"(?!(?:family|belly|lily|assembly|ally|reply|supply|daily|weekly|monthly|yearly)$)[a-z]{3,}ly"
)
_EMPHATIC = frozenset({"really", "seriously", "literally", "honestly", "obviously", "actually"})
_NOT_MADE = re.compile(
    r"(?:clear|sure|known|happen|work|eas(?:y|ier)|possible|public|available|official|go|stop|visible|plain|obvious|"
    r"count|last|fit|up|right|better|worse)\b",
    re.IGNORECASE,
)
_PREDICATE = (
    frozenset({"is", "are", "was", "were", "has", "have", "had", "does", "do", "did"}) | MODALS
)
_ENDS_OPEN = re.compile(
    r"\b(?:said|says|say|asked|answered|told\s\w+|was\slike|like|is|a|an|the|my|to|of|in|at|on|from|and|have|has|got)$",
    re.I,
)
_MAX_VALUE = 40
_MAX_SLIPS = 3


def right_inside(*, text: str) -> str:
    """The sentence as its speaker meant it: what it puts right itself is gone."""
    for _ in range(_MAX_SLIPS):
        better = _once(text)
        if better == text:
            break
        text = better
    return text


def breaks_off(*, text: str) -> bool:
    """Whether a sentence begins with words by which a speaker puts the one before it right."""
    return _CUE.match(f", {text}") is not None


def _once(text: str) -> str:
    for cue in _CUE.finditer(text):
        said, found = text[: cue.start()], _VALUE.match(text, cue.end())
        if not said or found is None or _ENDS_OPEN.search(said):
            continue
        value, tail = found.group("value").strip(), text[found.end("value") :]
        closing = _LAST.search(value)
        if cue.group("well") and not (closing and "actually" in closing.group().lower()):
            continue
        value = _LAST.sub("", value)
        if "(" in cue.group() and tail[:1] == ")":
            tail = tail[1:]
        if "make" in cue.group().lower() and _NOT_MADE.match(value):
            continue
        if value in ADVERBS or (_MANNER.fullmatch(value) and not said.endswith("ly")):
            if "mean" in cue.group().lower():
                return f"{said}{tail}" if value in _EMPHATIC else f"{said} {value}{tail}"
            continue
        if value and not _NO_VALUE.match(value):
            right = _meant(said, value, not cue.group("is"))
            if right:
                return right + _after(said, cue.group(), _without_laugh(tail))
    return text


def _meant(said: str, value: str, is_sure: bool) -> str:
    """What was said with the value in it, or the clause that says it again, or ""."""
    head = _BESIDE.split(value, maxsplit=1)[0]
    if head != value and _FIGURE_OR_NAME.fullmatch(head):
        rest = value[len(head) :]
        # "Dune by Herbert, no, Emma by Austen": what is said beside it is said anew, too.
        before = said.rpartition(f" {words_of(rest)[0]} ")[0] or said
        right = put_right(text=before, value=head, is_sure=False)
        right = right or put_right(text=said, value=head, is_sure=False)
        return right + rest if right else ""
    if opens_clause(text=value):
        again = words_of(value)[:2] == words_of(said)[:2] and len(words_of(value)) > 2
        return value if again else ""
    if has_verb(text=value) and " " in value:
        return ""
    if len(value) <= _MAX_VALUE:
        right = put_right(text=said, value=value, is_sure=is_sure)
        if right:
            return right
    head = _PHRASE.split(value, maxsplit=1)[0]
    if head == value or head.lower() in PREPOSITIONS:
        return ""
    right = put_right(text=said, value=head, is_sure=is_sure)
    return right + value[len(head) :] if right else ""


def _after(said: str, cue: str, tail: str) -> str:
    """The rest of the sentence, without the comma that only closed the slip."""
    first = words_of(tail)[:1]
    if not (cue.startswith(",") and tail.startswith(", ") and first):
        return tail
    is_verb = first[0] in _PREDICATE or first[0] in THIRD or is_finite(word=first[0])
    goes_on = (
        tail[2:3].islower() and first[0] not in STOPWORDS | PREPOSITIONS | DETERMINERS | ADVERBS
    )
    closes = goes_on or is_verb if not has_verb(text=said) else goes_on and not is_verb
    return tail[1:] if closes else tail


def _without_laugh(tail: str) -> str:
    return re.sub(r"^[\s,]+(?:lol|haha+|sorry|oops|my\sbad)(?=[\s,.!]*$)", "", tail, flags=re.I)
