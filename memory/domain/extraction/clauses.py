"""A sentence into the clauses that are facts of their own."""

from __future__ import annotations

import re
from collections.abc import Callable

from .days.week_plans import is_weekly_list
from .kinds.introductions import introductions
from .kinds.procedures import steps_in
from .language.gapping import share_verb
from .language.syntax import acts_as_verb, has_verb, is_imperative
from .language.tense import is_past
from .language.verbs import AMBIGUOUS, AUXILIARIES, BASES, GERUNDS, MODALS, THIRD, is_finite
from .language.words import NUMBER_WORDS, PREPOSITIONS, STOPWORDS, word_set, words_of

_SO_REQUEST = re.compile(
    r",\s(?:so|and)\s(?=please\b)|,\sso\s(?=(?:don['’]t|do\snot|never|always|remind|send|use|keep|"
    r"call|answer|write|avoid|skip|plan|schedule|book|give|show)\b)",
    re.IGNORECASE,
)
_I_AM_THEN_I = re.compile(
    r",\s(?:and\s)?(?=I\s|I['’](?:m|ve)\s|my\s)|\sand\s(?=(?:I|my|I['’](?:m|ve))\s)"
)
_NAMED_THEN_I = re.compile(r",\sand\s(?=(?:[\w’'-]+\s){1,4}(?:I|we)\s)")
# "Since I'm away from Monday, here's how …": a fact, and what it is the reason for.
_BEFORE_HOW = re.compile(
    r"^(?:since|as|because)\s(?P<reason>(?:i|we|he|she|they|[A-Z]\w+)(?:['’]\w+)?\s[^,]{5,80}),\s(?=(?:here['’]s|here\sis|this\sis)\show\b)",
    re.IGNORECASE,
)
MAX_CHARS = 250
_LONG_JOINT = re.compile(r",\s(?:so|and|but|while|because)\s|;\s|\s[–—]\s|\sbecause\s")
_COMMA = re.compile(r",\s(?:and\s|but\s|while\s)?")
_AND_CLAUSE = re.compile(r",\s(?:and|but|while)\s")
_SEMICOLON = re.compile(r"\s?;\s|\s[–—]\s")
_CONDITIONS = tuple(
    [word]
    for word in ("if", "when", "whenever", "because", "since", "although", "once", "how", "every",
                 "after", "before", "until", "while", "as")
)  # fmt: skip
_CONTRACTED = word_set(
    "i'm i've i'd i'll we're we've we'd we'll it's it'd it'll she's she'd she'll he's he'd he'll "
    "they're they've they'd they'll there's"
)
_LEANING = word_set(
    "that this that's it it's which those both neither they they're so because since as then"
)
_MANY = word_set("people folks children men women police staff")
_RELATIVE = re.compile(r",\s(?:who|which|whose)\s[^,]{3,60},\s", re.IGNORECASE)
_THEN_ASKS = re.compile(
    r"[,;]\s(?:so\s|and\s|but\s)?(?=(?:do|does|did|is|are|can|could|will|would|should|shall|may|"
    r"what|when|where|who|how|why|which|any)\s)(?!\w+\s(?:you|he|she|it|they|we)\?)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:do|does|did|is|are|am|can|could|will|would|should|shall|may|what|when|where|who|how|why|"
    r"which|any|have|has|if|so\swhat)\b",
    re.IGNORECASE,
)
# "I own a boat, is that so?" asks about what stands before it.
_DOUBTS = re.compile(
    r"(?:(?:is|was)(?:n['’]t)?\s(?:that|this|it)(?:\s(?:so|right|true|correct|accurate|the\scase|what\syou\s\w+))?(?:\snow)?|"
    r"where\s(?:did|do|have)\syou\s(?:get|got|take|have|find|hear)\s(?:that|this|it)(?:\sfrom)?|how\s(?:do|did|would)\syou\sknow(?:\sthat)?|"
    r"who\s(?:told|says|said)(?:\syou)?(?:\s(?:that|so))?|(?:why|how\scome)(?:\sis\sthat)?|what\smakes\syou\s(?:say|think)\s(?:that|so))\W*$",
    re.IGNORECASE,
)
# "As an alto with twenty years of choir behind me, can I ask …?"
_ASKS_AS = re.compile(
    r"(?:as|being)\s(?P<what>an?\s[^,?]{4,80}),\s(?=(?:can|could|may|do|does|did|is|are|am|what|how|why|where|when|"
    r"which|who|should|would|will)\b)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|\([^)]*\)")


def opens_clause(*, text: str) -> bool:
    """Whether words begin with a subject of their own that a verb follows."""
    words = words_of(_RELATIVE.sub(" ", text))[:9]
    if len(words) < 2:
        return False
    if words[0] in PREPOSITIONS or words[0] in {"not", "who", "which", "where", "that's", "and"}:
        return False
    if words[0] in {"i", "we", "you", "he", "she", "it", "they", "nobody", "everyone", "nothing"}:
        return True
    if words[0] in _CONTRACTED:
        return True
    if words[0].endswith("'s") and words[1] in GERUNDS:
        # "Luca's turning 40"
        return True
    if len(words) < 4 and (words[0][0].isdigit() or words[0] in NUMBER_WORDS):
        # "three frames" counts frames.
        return False
    for index, word in enumerate(words[1:], 1):
        if word in {"who", "which", "that", "to"}:
            return False
        if word in AUXILIARIES or (word in MODALS and words[index - 1] not in PREPOSITIONS):
            # "until May" is a month.
            return True
        noun_before = words[index - 1] not in STOPWORDS and words[index - 1] not in PREPOSITIONS
        if acts_as_verb(words=words, index=index):
            return True
        if noun_before and (is_finite(word=word) or word in THIRD):
            return True
        if (
            noun_before
            and word in BASES
            and (
                words[index - 1].endswith("s") or words[index - 1] in _MANY or word not in AMBIGUOUS
            )
        ):
            return True
    return False


def split_question(*, text: str) -> list[str]:
    """ "He's left-handed, does that matter?" as the statement and the question it is."""
    if not text.endswith("?"):
        return [text]
    being = _ASKS_AS.match(text)
    if being:
        return [f"I'm {being.group('what')}.", text[being.end() :]]
    for match in _THEN_ASKS.finditer(text):
        left = text[: match.start()]
        if _DOUBTS.match(text, match.end()):
            continue
        first = words_of(left)[:1]
        if opens_clause(text=left) and first not in _CONDITIONS and not _ASKS.match(left):
            return [left + ".", text[match.end() :]]
    return [text]


def split_clauses(*, text: str) -> list[str]:
    """The independent clauses of a sentence; what leans on its neighbour stays with it.

    Splits at semicolons, in lists of three or more clauses, between two present-tense clauses
    with subjects of their own, before a request, and where a verb is left out the second time.
    Past narrative stays whole, and so do the days of a week.
    """
    if ": " in text and steps_in(text=text.partition(": ")[2]) > 1:
        return [text]
    if len(text) <= MAX_CHARS and is_weekly_list(text=text):
        return [text]
    shared = share_verb(text=text)
    if shared:
        return [part for clause in shared for part in split_clauses(text=clause)]
    reason = _BEFORE_HOW.match(text)
    if reason:
        return [reason.group("reason"), *split_clauses(text=text[reason.end() :])]
    pieces = _split_guarded(_SEMICOLON, text, _independent)
    pieces = [part for piece in pieces for part in _split_guarded(_SO_REQUEST, piece, _own_request)]
    pieces = [part for piece in pieces for part in _split_list(piece)]
    pieces = [part for piece in pieces for part in _split_guarded(_I_AM_THEN_I, piece, _two_selves)]
    pieces = [part for piece in pieces for part in _split_guarded(_NAMED_THEN_I, piece, _presented)]
    pieces = [part for piece in pieces for part in _split_guarded(_AND_CLAUSE, piece, _two_facts)]
    pieces = [part for piece in pieces for part in _short_enough(piece)]
    return [piece.strip(" ,;") for piece in pieces if piece.strip(" ,;.!")]


def _short_enough(piece: str) -> list[str]:
    """A piece too long for one memory, cut where a clause with a subject of its own begins."""
    if len(piece) <= MAX_CHARS:
        return [piece]
    return _split_guarded(
        _LONG_JOINT, piece, lambda left, right: opens_clause(text=right) and has_verb(text=left)
    )


def _own_request(left: str, right: str) -> bool:
    """A request that does not lean on the reason before it."""
    words = words_of(right)
    related = "that" in words[2:-1] and words[words.index("that") - 1] not in BASES
    return (
        bool(left)
        and not ({"it", "them", "this", "those", "instead"} & set(words))
        and (related or "that" not in words)
    )


def _independent(left: str, right: str) -> bool:
    if is_imperative(text=right) or is_imperative(text=left):
        return False
    return opens_clause(text=right) and has_verb(text=left) and not _leans(right)


def _leans(text: str) -> bool:
    words = words_of(text)
    return bool(words) and words[0] in _LEANING


def _presented(left: str, right: str) -> bool:
    """A name or pronouns, and then what the speaker does."""
    return bool(introductions(clause=left)) and has_verb(text=right)


def _two_selves(left: str, right: str) -> bool:
    """Two statements about the speaker in the present tense."""
    if introductions(clause=left):
        return has_verb(text=right)
    first = words_of(left)[:1]
    return (
        first in (["i'm"], ["i"], ["my"])
        and not is_past(text=left)
        and not is_past(text=right)
        and has_verb(text=right)
        and has_verb(text=left)
    )


def _two_facts(left: str, right: str) -> bool:
    if is_past(text=left) or is_past(text=right) or not opens_clause(text=right):
        return False
    if is_imperative(text=left) or is_imperative(text=right) or _leans(right):
        return False
    if words_of(left)[:1] in _CONDITIONS:
        return False
    # A second clause that only adds when the same person does it is no fact of its own.
    if words_of(right)[0] in {"she", "he", "they", "i", "we", "nobody"}:
        return False
    return opens_clause(text=left) and len(words_of(left)) > 3 and len(words_of(right)) > 3


def _masked(text: str) -> str:
    return _QUOTED.sub(lambda match: "x" * len(match.group()), text)


def _split_list(text: str) -> list[str]:
    masked = _masked(text)
    cuts = list(_COMMA.finditer(masked))
    if len(cuts) < 2:
        return [text]
    starts = [0, *(cut.end() for cut in cuts)]
    ends = [*(cut.start() for cut in cuts), len(text)]
    parts = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    if is_imperative(text=parts[0]) or is_past(text=parts[0]):
        return [text]
    merged: list[str] = []
    for index, part in enumerate(parts):
        headed = bool(merged) and words_of(merged[-1])[:1] in _CONDITIONS and "," not in merged[-1]
        if merged and (headed or not opens_clause(text=part) or _leans(part)):
            merged[-1] = text[text.find(merged[-1]) : ends[index]]
        else:
            merged.append(part)
    return merged if len(merged) >= 3 else [text]


def _split_guarded(
    separator: re.Pattern[str], text: str, accept: Callable[[str, str], bool]
) -> list[str]:
    """Split at the separators whose two sides `accept` says are facts of their own."""
    pieces: list[str] = []
    start = 0
    masked = _masked(text)
    for match in separator.finditer(masked):
        left, right = text[start : match.start()], text[match.end() :]
        if accept(left, right):
            pieces.append(left)
            start = match.end()
    pieces.append(text[start:])
    return pieces
