"""Small words of each statement that say how it is meant: change, past, guess, extent."""

from __future__ import annotations

from ..lexicon import word_set
from ..tokens import Token
from .pairing import Features, Pair
from .reading import TABLES, Reading
from .values import CALENDAR

_CUES = tuple(name for name in TABLES if name not in {"opposites", "kinds", "synonyms", "changes"})
_HAVE = frozenset({"has", "have", "had", "'ve"})
_OPENINGS = frozenset({"from", "since", "after", "starting", "effective", "following", "as"})
_PERFECT_REACH = 3
_INSTEAD_OF = frozenset({("instead", "of"), ("rather", "than")})
_LINKS = word_set("prepositions") | {"a", "an", "the"}


def cues(pair: Pair) -> Features:
    """Counts of cue words on both sides, of tense and length."""
    found: Features = {}
    for side, reading in (("old", pair.old), ("new", pair.new)):
        found |= {f"{side} {name}": size for name, size in _of(reading).items()}
    found["longer"] = found["new words"] - found["old words"]
    found["now past"] = float(found["new past verb"] > found["old past verb"])
    found["past before"] = float(found["new past verb"] < found["old past verb"])
    return found


def changed_verbs(reading: Reading) -> list[int]:
    """The places of verbs of change that are told as having happened ("moved", "has moved")."""
    return [
        mark.start
        for mark in reading.marks.get("changes", ())
        if _is_past(reading.tokens[mark.start])
    ]


def contrasts(reading: Reading) -> list[int]:
    """The places of what a statement puts away for something else ("90, not 80")."""
    tokens, found = reading.tokens, []
    for place in range(1, len(tokens)):
        behind = place + 1
        is_not = tokens[place].lower == "not" and _ends_a_part(reading, place - 1)
        if not is_not and (tokens[place - 1].lower, tokens[place].lower) not in _INSTEAD_OF:
            continue
        while behind < len(tokens) and tokens[behind].lower in _LINKS:
            behind += 1
        if behind < len(tokens):
            found.append(behind)
    return found


def _ends_a_part(reading: Reading, place: int) -> bool:
    is_plain = reading.content[place] or reading.valued[place]
    return is_plain or reading.tokens[place].text in {",", ";", "–", "—"}


def has_past_verb(reading: Reading) -> bool:
    """Whether the main verb tells of the past."""
    if reading.verb >= len(reading.tokens):
        return False
    verb = reading.tokens[reading.verb]
    return _is_past(verb) or verb.lower in {"was", "were"}


def _of(reading: Reading) -> Features:
    lower = [token.lower for token in reading.tokens]
    additions = {mark.start for mark in reading.marks.get("additions", ())}
    changed = changed_verbs(reading)
    found: Features = {name: len(reading.marks.get(name, ())) for name in _CUES}
    found["change told"] = sum(place not in additions for place in changed)
    found["addition told"] = sum(place in additions for place in changed)
    found["change named"] = len(reading.marks.get("changes", ()))
    found["past verb"] = float(has_past_verb(reading))
    found["perfect"] = float(
        any(
            lower[place] in _HAVE
            and any(_is_past(token) for token in reading.tokens[place + 1 : place + _PERFECT_REACH])
            for place in range(len(lower))
        )
    )
    found["opens with a date"] = float(bool(lower) and lower[0] in _OPENINGS)
    found["from to"] = float("from" in lower and "to" in lower[lower.index("from") :])
    found["negations"] = sum(word in {"not", "no", "never", "none", "without"} for word in lower)
    found["future"] = float("will" in lower or "shall" in lower)
    found["modal"] = float(not {"must", "should", "may", "can", "could"}.isdisjoint(lower))
    found["dated"] = float(any(value.kind in CALENDAR for value in reading.values))
    found["since"] = float("since" in lower)
    found["new"] = float("new" in lower)
    found["pronoun"] = float(not {"he", "she", "they", "it", "his", "her"}.isdisjoint(lower))
    found["words"] = len(lower)
    found["clauses"] = sum(word in {",", ";", ":", "and", "but"} for word in lower)
    return found


def _is_past(token: Token) -> bool:
    """Whether a verb form is past or a participle."""
    if token.lower.endswith("ed"):
        return True
    return token.stem != token.lower and not token.lower.endswith(("s", "ing", "e", "y"))
