"""What of a query is measured, as numbers of about 0 to 2."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .cues import Hit, counted, cue_table, term_table, words
from .rarity import UNKNOWN, rarity
from .text import QueryText, take_apart, words_of

_STOP = words(
    "a an and any are as at be been but by can could did do does for from had has have how i if in "
    "into is it its just me more most my no not of on only or our out over shall she so some such "
    "than that the their them then there these they this those to too under up us was we were what "
    "when where which while who whom why will with without would you your please"
)
_WORK = ("prove", "design", "assess", "justify")
_OPENERS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("open_quantity", r"how (many|much|long|far|often|old|big|tall)\b"),
        ("open_how_do", r"how (do|does|can|to)\b"),
        ("open_how", r"how\b"),
        ("open_why", r"why\b"),
        ("open_what_is", r"(what('s| is| are| was| does| do)|whats)\b"),
        ("open_which", r"(which|who|when|where|whose|whom|what)\b"),
        ("open_closed", r"(is|are|was|does|do|did|can|could|will|had|has|should|am)\b"),
        ("open_telling", r"(i|we|our|my|the|this|there|here|it|a|an|these|two|three|you)\b"),
    )
)
_LENGTH_ASKED = re.compile(r"\b(\d[\d,.]{0,9})[- ]?(words?|pages?|lines?|minutes?|minute|bars)\b")
_SENTENCE = re.compile(r"[.!?;](?:\s|$)")
_LISTED = re.compile(r",|;|\band\b|\bor\b")
_ACRONYM = re.compile(r"\b[A-Z][A-Z0-9]{1,}s?\b")
_MIXED = re.compile(r"\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*|\b\w+\+\+|\b[a-z]+\d+\w*")
_COMPOUND = re.compile(r"\b[^\W\d_]{2,}(?:[-–][^\W\d_]{2,})+\b")


@dataclass(frozen=True, slots=True)
class Measured:
    """The features of a query, the fields its terms belong to, and how many words it has.

    `is_readable` is False for a query in a language that the word lists do not hold.
    """

    features: dict[str, float]
    fields: tuple[str, ...]
    words: int
    is_readable: bool


def measure(
    *, query: str, history_turns: int, knows: Callable[[str], bool] | None = None
) -> Measured:
    """Measure a query asked after `history_turns` earlier turns.

    Terms that `knows` denies count as words without a field: fitting asks what would be seen of a
    query from a field whose terms no list holds.
    """
    text = take_apart(query)
    cues = list(cue_table().hits(text.tokens))
    terms = [hit for hit in term_table().hits(text.tokens) if knows is None or knows(hit.phrase)]
    counts = counted(cues)
    features = {name: _few(counts[name], 3) for name in _CUES}
    features |= _shape(text, counts)
    features |= _wording(text, terms)
    features |= _context(counts, history_turns)
    features |= _head(cues, text)
    features |= _together(features)
    return Measured(features, _fields(terms), len(text.tokens), _is_readable(text, len(terms)))


_ASKED = ("open_quantity", "open_what_is", "open_which", "open_closed")
_CUES = (
    "prove", "design", "assess", "explain", "rigour", "justify", "contrast", "steps", "debugging",
    "advice", "hypothetical", "lookup", "edit", "errand", "brief", "chat", "fancy_small",
    "fancy_large", "invent", "draft", "paper_long", "paper_mid", "long_ask",
)  # fmt: skip


def _is_readable(text: QueryText, terms: int) -> bool:
    """Whether enough of the words are English; of fewer than six words nobody can tell."""
    latin = sum(char < "\u0250" for char in text.request if char.isalpha())
    other = sum(char >= "\u0250" for char in text.request if char.isalpha())
    if other > max(latin, 7):
        return False
    known = sum(token in _STOP for token in text.tokens)
    return len(text.tokens) < 6 or 10 * known >= len(text.tokens) or 3 * terms >= len(text.tokens)


def _few(count: float, most: float) -> float:
    return math.sqrt(min(count, most) / most)


def _short(words: int) -> float:
    """1 up to six words, 0 from twenty."""
    return min(1.0, max(0.0, (20 - words) / 14))


def _content(text: QueryText) -> list[str]:
    return [
        word
        for word in words_of(text.request)
        if len(word) > 2 and word not in _STOP and not word.isdigit()
    ]


def _listed(request: str) -> int:
    return len(_LISTED.findall(request))


def _head(cues: Sequence[Hit], text: QueryText) -> dict[str, float]:
    """What the request begins with, where it is an order and not a question."""
    first = next((at for at, token in enumerate(text.tokens) if token not in _POLITE), 0)
    return {f"head_{hit.name}": 1.0 for hit in cues if hit.at == first and hit.name in _HEADS}


_POLITE = words("please can could you would now ok okay then so and kindly")
_HEADS = words("prove design assess explain draft invent edit errand")


def _shape(text: QueryText, counts: Counter[str]) -> dict[str, float]:
    request = text.request.strip()
    lowered = request.lower()
    words = len(text.tokens)
    after_colon = request.partition(":")[2]
    opener = next((name for name, form in _OPENERS if form.match(lowered)), "open_doing")
    asked = max((_size(found) for found in _LENGTH_ASKED.finditer(lowered)), default=0.0)
    return {
        opener: 1.0,
        "words": min(math.log1p(words) / math.log(30), 1.5),
        "words_over": min(max(0, words - 15) / 20, 2.0),
        "short": _short(words),
        "sentences": _few(max(0, len(_SENTENCE.findall(request)) - 1), 3),
        "listed": min(_listed(request), 8) / 5,
        "colon_list": min(_listed(after_colon), 6) / 4,
        "length_asked": asked,
        "material": min(math.log1p(text.material_words) / 4, 1.5),
        "code": _few(text.code_marks, 4),
        "maths": _few(text.maths_marks, 3),
        "question": float("?" in request),
        "digits": _few(sum(token[0].isdigit() for token in text.tokens), 4),
        "works": _few(sum(counts[name] > 0 for name in _WORK), 3),
    }


def _size(found: re.Match[str]) -> float:
    """A requested length as the logarithm of its words: 0 for ten words, 1 for a thousand."""
    number = float(found.group(1).replace(",", "").rstrip(".") or 0)
    unit = found.group(2).rstrip("s")
    words = number * {"word": 1, "page": 400, "line": 10, "minute": 130, "bar": 3}[unit]
    return min(max(math.log10(max(words, 1)) - 1, 0.0) / 2, 1.5)


def _wording(text: QueryText, terms: Sequence[Hit]) -> dict[str, float]:
    content = _content(text)
    rarities = sorted((rarity(word) for word in content), reverse=True)
    top = rarities[:5]
    depths = _deepest(terms)
    working = sum(depth == 1 for depth in depths.values())
    experts = sum(depth == 2 for depth in depths.values())
    inner = text.cased[1:]
    return {
        "rarity_top": sum(top) / 5 if top else 0.0,
        "rarity_mean": sum(rarities) / len(rarities) if rarities else 0.0,
        "unknown": _few(sum(value >= UNKNOWN for value in rarities), 6),
        "long_words": _few(sum(len(word) >= 9 for word in content), 6),
        "letters": min(sum(map(len, content)) / max(1, len(content)) / 6, 1.5),
        "compounds": _few(len(_COMPOUND.findall(text.request)), 3),
        "acronyms": _few(len(_ACRONYM.findall(text.request)), 3),
        "mixed_case": _few(len(_MIXED.findall(text.request)), 3),
        "names": _few(sum(token[:1].isupper() and token[1:].islower() for token in inner), 4),
        "everyday": _few(sum(depth == 0 for depth in depths.values()), 4),
        "terms": _few(working, 4),
        "experts": _few(experts, 4),
        "expert_share": min(1.0, 4 * experts / max(4, len(text.tokens))),
        "fields": _few(len(_fields(terms)), 4),
    }


def _fields(terms: Sequence[Hit]) -> tuple[str, ...]:
    """The fields whose own terms are used, the most used first."""
    counts = Counter(hit.name.rstrip("+") for hit in terms if hit.name.endswith("+"))
    return tuple(name for name, _ in counts.most_common())


def _deepest(terms: Sequence[Hit]) -> dict[int, int]:
    """The depth of the term at each place: 0 everyday, 1 working, 2 expert; the deepest counts."""
    depths: dict[int, int] = {}
    for hit in terms:
        depths[hit.at] = max(depths.get(hit.at, 0), hit.name.count("+"))
    return depths


def _context(counts: Counter[str], history_turns: int) -> dict[str, float]:
    turns = math.log1p(max(0, history_turns)) / math.log(16)
    begun = float(history_turns > 0)
    return {
        "turns": min(turns, 1.5),
        "begun": begun,
        "earlier": begun * _few(counts["earlier"], 3),
        "whole_talk": begun * min(counts["whole_talk"], 1),
        "deixis": begun * _few(counts["deixis"], 4),
        "earlier_turns": min(turns, 1.5) * _few(counts["earlier"] + counts["whole_talk"], 3),
    }


def _together(features: dict[str, float]) -> dict[str, float]:
    """Cues that mean something only in each other's company."""
    deep = max(features["prove"], features["rigour"], features["experts"])
    trifle = max(features["lookup"], features["edit"], features["errand"], features["brief"])
    return {
        "deep_short": deep * features["short"],
        "lookup_short": features["lookup"] * features["short"],
        "asked_short": features["short"]
        * max(features.get(name, 0.0) for name in _ASKED)
        * (1 - max(features["rigour"], features["contrast"])),
        "trifle_plain": trifle * (1 - deep),
        "trifle_short": trifle * features["short"],
        "plain_short": features["short"] * (1 - min(1.0, features["rarity_top"])),
        "why_deep": features.get("open_why", 0.0) * features["experts"],
        "contrast_experts": features["contrast"] * features["experts"],
        "design_listed": max(features["design"], features["draft"]) * min(1.0, features["listed"]),
        "design_experts": max(features["design"], features["prove"]) * features["experts"],
    }
