"""Whether two statements give different values to one attribute of one subject."""

from __future__ import annotations

from ..reading.frames import Reading, Word
from ..reading.lexicon import Table
from ..reading.slots import is_copular
from ..reading.tables import words
from ..reading.tokens import stem
from .compare import Comparison, same_name
from .quantifiers import Extent, extent_of
from .subjects import is_inverse, subject_names
from .tellings import verbs_of

BROAD = frozenset({"uses", "tool"})
_POSSIBLE = frozenset({"can", "may", "could"})
_MULTI_VERBS = frozenset(
    stem(verb)
    for verb in words(
        "like love enjoy know speak have own play visit attend read watch learn meet include "
        "contain support offer sell write paint collect grow bring need want hate dislike cook "
        "eat drink see test help teach study train join sponsor invest interest find think praise "
        "listen follow admire recommend get receive give depend rely need show list require accept "
        "consume publish integrate connect book order involve feature mention cover provide repair "
        "stop borrow maintain review host visit know teach coach mentor cite sign send deliver"
    )
)


def value_clash(e: Reading, n: Reading, c: Comparison, *, same_path: bool, single: bool) -> str:
    """The two values in words where one attribute has both, or ""."""
    if e.verb in _POSSIBLE and n.verb in _POSSIBLE:
        # "Can be exported as X" leaves room for Y.
        return ""
    attribute = c.attribute_name()
    swapped = is_inverse(c)
    cues_e, cues_n = _cues(e, c), _cues(n, c)
    left_e = [
        w
        for w in c.left_existing
        if _is_value(w) and w.position not in cues_e and (swapped or not w.in_subject)
    ]
    left_n = [
        w
        for w in c.left_new
        if _is_value(w) and w.position not in cues_n and (swapped or not w.in_subject)
    ]
    if not left_e or not left_n or not c.shared:
        return ""
    x, y = _as_told(e, left_e[-1]), _as_told(n, left_n[-1])
    names_e = [w for w in left_e if w.is_name]
    names_n = [w for w in left_n if w.is_name]
    if names_e and names_n:
        x, y = _as_told(e, names_e[-1]), _as_told(n, names_n[-1])
    if c.contrasts and attribute == "name":
        return ""
    if swapped and _same_person(e, n):
        return ""
    if c.equal_values and not c.other_values and not (names_e and names_n):
        # One figure told twice, whatever the words around it.
        return ""
    if attribute in BROAD and not c.contrasts and (attribute == "uses" or verbs_of(e, n, c)[1]):
        # One may use two things of different kinds.
        return ""
    if attribute and len(left_e) <= 4 and len(left_n) <= 4:
        name = "" if attribute in _LOOSE else f" ({attribute})"
        return f"two values of one attribute{name}: {x} / {y}"
    if single and len(left_e) <= 4 and len(left_n) <= 4:
        return f"two values under one subject path: {x} / {y}"
    if is_many_valued(e) and is_many_valued(n):
        return ""
    same, apart = verbs_of(e, n, c)
    beside = not {e.slots[w.position] for w in left_e} & {n.slots[w.position] for w in left_n}
    if (apart or (same and beside)) and not (
        is_copular(e.tokens, e.verb_at) or is_copular(n.tokens, n.verb_at)
    ):
        # "Works for X", "sings in Y"; "prints in colour", "prints on both sides".
        return ""
    if is_copular(e.tokens, e.verb_at) != is_copular(n.tokens, n.verb_at) and not c.contrasts:
        # "Is afraid of flying", "is flying to Rome"; "the favourite is X", "is reading Y".
        return ""
    if same_path and c.shared_common and len(left_e) <= 3 and len(left_n) <= 3:
        return f"two values under one subject path: {x} / {y}"
    if names_e and names_n and not is_person(e) and len(left_e) <= 3 and len(left_n) <= 3:
        return f"two names for one thing: {x} / {y}"
    copulas = is_copular(e.tokens, e.verb_at) and is_copular(n.tokens, n.verb_at)
    few = len(left_e) <= 2 and len(left_n) <= 2
    if c.contrasts and few and (copulas or not is_person(e)):
        return f"two of a kind for one thing: {x} / {y}"
    if copulas and few and not is_person(e) and c.shared_common:
        return f"two descriptions of one thing: {x} / {y}"
    predicate = any(not a.in_subject or not b.in_subject for a, b in c.shared if not a.is_name)
    thing = not is_person(e) and bool(c.shared_common)
    whole = not any(w.in_subject for w in (*c.left_existing, *c.left_new) if _is_value(w))
    close = min(c.coverage_existing, c.coverage_new) >= 0.5
    if not predicate and e.tokens[e.verb_at].stem != n.tokens[n.verb_at].stem:
        # "Has three rooms", "is on the fourth floor": two sides of one thing.
        return ""
    if few and whole and close and (predicate or thing) and not c.equal_values:
        return f"two values in one place: {x} / {y}"
    return ""


# Attributes whose cues say too little of what the value is to name it by them.
_LOOSE = BROAD | {"date", "default", "tense", "contact", "officer", "format", "stored", "place"}


def _as_told(reading: Reading, word: Word) -> str:
    return reading.tokens[word.position].text


def _cues(reading: Reading, c: Comparison) -> set[int]:
    """Positions of the words that name a shared attribute and so are no value of it."""
    return {
        i
        for mark in reading.marks
        if mark.table is Table.ATTRIBUTE and any(row in c.attributes for row, _ in mark.ids)
        for i in range(mark.start, mark.end)
    }


def _same_person(e: Reading, n: Reading) -> bool:
    """Whether one named holder is the subject of both, who may hold several things."""
    return any(
        same_name(a, b)
        for a in subject_names(e)
        for b in subject_names(n)
        if a.is_subject and b.is_subject and is_person(e) and is_person(n)
    )


def is_partial(reading: Reading) -> bool:
    """Whether the statement speaks of some only ("not every", "most")."""
    return extent_of(reading) is Extent.PART


def is_paraphrase(e: Reading, n: Reading, c: Comparison) -> bool:
    """Whether the two say the same, by the share of words and values they have in common."""
    if c.contrasts or c.other_values or is_partial(e) or is_partial(n):
        return False
    left_e, left_n = content_left(e, c.left_existing, c), content_left(n, c.left_new, c)
    if any(w.is_name for w in left_e) and any(w.is_name for w in left_n):
        return False
    cover = (c.coverage_existing + c.coverage_new) / 2
    if left_e and left_n and not c.equal_values:
        return cover >= 0.7
    return cover >= (0.5 if c.equal_values else 0.55)


def other_object(e: Reading, n: Reading, c: Comparison) -> bool:
    """Whether the two act on different objects, so that their clash is about two things."""
    objects = _object(e, c.left_existing), _object(n, c.left_new)
    if objects[0] is None or objects[1] is None:
        return False
    if any(w.text in pair for pair in c.oppositions for w in objects if w):
        return False
    return not any(
        not a.in_subject and not b.in_subject and a.position != e.head
        for a, b in c.shared
        if b.position != n.head
    )


def _object(reading: Reading, left: tuple[Word, ...]) -> Word | None:
    """The left-over word right after the main verb."""
    for word in left:
        if reading.head < word.position <= reading.head + 3 and _is_value(word):
            between = reading.tokens[reading.head + 1 : word.position]
            if not any(t.separator or t.lower in _PLACES or t.lower == "to" for t in between):
                return word
    return None


def content_left(reading: Reading, left: tuple[Word, ...], c: Comparison) -> list[Word]:
    """Left-over words that carry a value; beside equal figures the verb says nothing more."""
    return [w for w in left if _is_value(w) and not (c.equal_values and w.position == reading.head)]


_LIGHT = frozenset(
    stem(word)
    for word in words(
        "work ask say tell want wish act serve go run hold apply used based called known named "
        "kept made done given taken put set happen place take live govern entitled way time part "
        "currently official actual rest best contain write drive lie find rate department around "
        "without else someone really along list show leave"
    )
)


def _is_value(word: Word) -> bool:
    return word.is_name or word.stem not in _LIGHT


_PLACES = words("in on at for during within inside under")


def other_place(e: Reading, n: Reading, c: Comparison) -> str:
    """The places or occasions in which the two hold, where each names another, or ""."""
    if c.attributes:
        # "Written in Go", "stored in Lyon": the place is the value itself.
        return ""
    place_e = _placed(e, c.left_existing)
    place_n = _placed(n, c.left_new)
    return f"{place_e} / {place_n}" if place_e and place_n else ""


def _placed(reading: Reading, left: tuple[Word, ...]) -> str:
    """The first left-over word that a preposition of place or occasion governs."""
    for word in left:
        if (word.in_subject and word.position < 2) or not _is_value(word):
            continue
        for i in range(word.position - 1, max(-1, word.position - 4), -1):
            token = reading.tokens[i]
            if token.separator or i == reading.head:
                break
            if token.lower in _PLACES:
                return word.text
    return ""


def is_many_valued(reading: Reading) -> bool:
    """Whether the main verb takes several objects at a time ("likes", "speaks", "has")."""
    verbs = reading.tokens[reading.head : reading.head + 3]
    if reading.verb in _POSSIBLE:
        return True
    return any(token.stem in _MULTI_VERBS for token in verbs)


def is_person(reading: Reading) -> bool:
    """Whether the statement is about somebody by name, without a noun of an attribute."""
    nouns = [w for w in reading.words if w.in_subject and not w.is_name]
    return bool(subject_names(reading)) and not nouns
