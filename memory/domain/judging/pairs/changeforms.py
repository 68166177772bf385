"""Change told by form rather than by one word: dated openings, relative values, parted verbs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..reading.frames import Reading
from ..reading.tables import words
from ..reading.tokens import Token, stem
from .leaving import leaves_behind
from .parted import parted_verb

_SINCE = words("the this last then yesterday monday new his her their it a")


_SEASONS = words("spring summer autumn fall winter tomorrow")
_MORE = words("more fewer less extra additional")
_FARTHER = words("earlier later longer shorter higher lower cheaper lighter heavier faster slower")
_MEASURES = words("percent % third quarter half tenth fifth")


_MULTIPLES = words(
    "double doubled twice triple tripled treble trebled halve halved quadrupled quadruple"
)


def _opening(reading: Reading) -> str:
    """ "From 1 February ...", "Since the audit ...": the statement dates its own beginning."""
    tokens = reading.tokens
    if not tokens:
        return ""
    first = tokens[0].lower
    if first in {"since", "after", "following"}:
        return " ".join(token.text for token in tokens[:4])
    if first in {"from", "starting", "effective", "beginning", "as"}:
        dated = any(q.start <= 3 and q.kind in {"date", "weekday"} for q in reading.quantities)
        if dated or tokens[min(1, len(tokens) - 1)].lower in {
            "of",
            "now",
            "next",
            "today",
            *_SEASONS,
        }:
            return " ".join(token.text for token in tokens[:3])
    announced = _announced(tokens)
    if announced:
        return announced
    for quantity in reading.quantities:
        # "... from 1 March on", "... from next week onwards".
        before = tokens[quantity.start - 1].lower if quantity.start else ""
        after = tokens[quantity.end].lower if quantity.end < len(tokens) else ""
        if before == "from" and after in {"on", "onwards", "onward"}:
            return f"from {quantity.text} {after}"
    for i, token in enumerate(tokens[:-1]):
        if token.lower == "from" and tokens[i + 1].lower in {"this", "next"} and i > reading.head:
            return " ".join(t.text for t in tokens[i : i + 3])
        lasting = any(t.lower == "been" for t in tokens[reading.head : i])
        if i and token.lower == "since" and tokens[i + 1].lower in _SINCE and i > reading.head:
            if lasting:
                # "Has been learning Spanish since the autumn" began then and ended nothing.
                continue
            return " ".join(t.text for t in tokens[i : i + 3])
    return ""


def _relative(reading: Reading) -> str:
    """ "by ten percent", "two more", "an hour earlier": a value given by its distance."""
    tokens = reading.tokens
    for quantity in reading.quantities:
        before = tokens[quantity.start - 1].lower if quantity.start else ""
        after = tokens[quantity.end].lower if quantity.end < len(tokens) else ""
        bare = quantity.kind in {"count", "number", "label", "ordinal"}
        timed = quantity.kind in {"date", "weekday", "clock"}
        if before == "by" and not timed and (not bare or _moves(tokens, quantity.start)):
            return "by " + quantity.text
        if before == "to" and _has_fallen(tokens, quantity.start):
            return "down to " + quantity.text
        plain = quantity.kind in {"count", "number", "duration"}
        if plain and quantity.end < len(tokens) and (before == "another" or after in _MORE):
            return quantity.text + " more"
        if after in _FARTHER and not (after == "later" and before in {"", "and"}):
            return quantity.text + " " + after
    for i, token in enumerate(tokens[:-1]):
        share = any(t.lower in _MEASURES for t in tokens[i + 1 : i + 4])
        if share and token.lower == "by" and tokens[i + 1].lower in {"a", "one", "half", "two"}:
            return " ".join(t.text for t in tokens[i : i + 3])
        if token.lower in _MULTIPLES and token.lower.endswith("d"):
            return token.text
    return ""


def _announced(tokens: Sequence[Token]) -> str:
    """ "Gate change for flight 12: ...": a change is announced before a colon."""
    lowers = [token.lower for token in tokens[:_HEADING]]
    if ":" not in lowers or "change" not in lowers[: lowers.index(":")]:
        return ""
    place = lowers.index("change")
    linked = lowers[place + 1] in {":", "for", "of", "to", "in", "on", "at"}
    return " ".join(token.text for token in tokens[max(0, place - 1) : place + 1]) if linked else ""


_HEADING = 10
_HAVING_FALLEN = words("is are 's 're been now already gone come")


def _has_fallen(tokens: Sequence[Token], i: int) -> bool:
    """ "Is down to 84": the figure at `i` is what is left."""
    return i > 2 and tokens[i - 2].lower == "down" and tokens[i - 3].lower in _HAVING_FALLEN


_MOVING = frozenset(
    stem(word)
    for word in words(
        "grow rise raise increase decrease drop fall cut reduce shorten extend lower lift expand "
        "shrink climb go up down jump slip sink trim boost top widen narrow"
    )
)


def _moves(tokens: Sequence[Token], i: int) -> bool:
    """ "Rose by three", but not "sold out by ten" or "signed by two"."""
    return any(token.stem in _MOVING for token in tokens[max(0, i - 6) : i])


def _leaving(reading: Reading) -> str:
    """ "left" as a verb: after a name or an auxiliary, before what is left."""
    for i, token in enumerate(reading.tokens):
        if token.lower != "left" or i in reading.denied:
            continue
        before = reading.tokens[i - 1].lower if i else ""
        after = reading.tokens[i + 1] if i + 1 < len(reading.tokens) else None
        if before in {"is", "are", "the", "was", "on", "his", "her", "to", "nothing"}:
            continue
        if leaves_behind(reading, i) or reading.tokens[reading.start].lower == "there":
            # "There are tickets left for".
            continue
        if before in {"has", "have", "had"} or after is None or after.separator:
            return "left"
        if after.capital or after.lower in {
            "the", "his", "her", "their", "its", "in", "at", "for", "on", "last", "after", "school",
            "home", "to", "this", "work", "our", "a",
        }:  # fmt: skip
            return "left " + after.text
    return ""


_RENEWED = words("new revised updated amended reworked")


def new_holder(reading: Reading) -> str:
    """ "the new lead", "a new address": what is new has replaced something."""
    for i, token in enumerate(reading.tokens[:-1]):
        before = reading.tokens[i - 1].lower if i else "the"
        if token.lower in _RENEWED and (before in {"the", "its", "his", "her", "their", "a", "'s"}):
            return token.lower + " " + reading.tokens[i + 1].text
    return ""


def _done_away(reading: Reading) -> str:
    """ "Did away with the fee"; "did" is no past form elsewhere."""
    lowers = [token.lower for token in reading.tokens]
    for i, lower in enumerate(lowers[:-2]):
        if lower in {"did", "done"} and lowers[i + 1 : i + 3] == ["away", "with"]:
            return " ".join(lowers[i : i + 3])
    return ""


FINDERS: tuple[tuple[str, Callable[[Reading], str]], ...] = (
    ("leaving", _leaving),
    ("opening", _opening),
    ("relative", _relative),
    ("phrasal", parted_verb),
    ("verb", _done_away),
)
