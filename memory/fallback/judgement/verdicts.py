"""From shares to a verdict with its reason in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from memory.domain.pair_selection import is_same_matter
from memory.domain.types import Judgement, Verdict

from ..lexicon import Mark, word_set
from .amounts import match_values
from .cues import changed_verbs, contrasts, has_past_verb
from .pairing import Pair, Sameness
from .reading import Reading
from .values import Value

# Chosen in cross-validation: docs/decisions/0002-compact-judge.md.
SURE_OF_CONFLICT: Final = 0.22
# A wrong supersession retires a fact, a wrong repetition leaves one out.
SURE_OF_CHANGE: Final = 0.33
SURE_OF_EVENT: Final = 0.5
SURE_OF_REPETITION: Final = 0.55
# How much of a supersession's share stands where no word tells of a change.
_UNTOLD: Final = 0.25
_CHANGE_TABLES: Final = ("corrections", "replacing", "from_now_on", "comparatives")
_OPENINGS = frozenset({"from", "since", "after", "starting", "effective", "following", "as"})
_HAVE = frozenset({"has", "have", "had", "'ve", "since"})

Shares = Mapping[Verdict, float]


def decide(*, pair: Pair, shares: Shares) -> Judgement:
    """The verdict of a pair that may be about one thing.

    A conflict takes SURE_OF_CONFLICT; it is a supersession only where the new statement tells of a
    change, or surely of an event that ends what was, and else a dispute. A change told of the
    same specific subject takes no more than a conflict does. A repetition leaves no number or
    name of the new statement unsaid.
    """
    denied = contrasted(pair)
    if denied:
        return Judgement(Verdict.SUPERSEDE, f'an explicit correction ("not {denied}")', 0.9)
    renewed = renewal_told(pair)
    if renewed:
        return Judgement(Verdict.SUPERSEDE, f'a new value ("{renewed}")', 0.8)
    told = change_told(pair.new)
    event = "" if told else event_told(pair)
    weighed = _weighed(shares, told=bool(told or event))
    conflict = round(weighed[Verdict.SUPERSEDE] + weighed[Verdict.DISPUTE], 3)
    if conflict >= SURE_OF_CONFLICT:
        change = weighed[Verdict.SUPERSEDE]
        needed = SURE_OF_CHANGE if told else SURE_OF_EVENT
        corrects = bool(pair.new.marks.get("corrections"))
        if told and is_same_matter(pair.old_path, pair.new_path):
            needed = SURE_OF_CONFLICT
        is_likely = change >= max(needed, weighed[Verdict.DISPUTE])
        if corrects or ((told or event) and is_likely):
            what = f'an explicit change ("{told}")' if told else f'a later event ("{event}")'
            return Judgement(Verdict.SUPERSEDE, what, conflict)
        parts = _what_parts(pair)
        if not parts:
            return Judgement(Verdict.COEXIST, "one says more of the same", round(1 - conflict, 3))
        return Judgement(Verdict.DISPUTE, f"{parts}, nothing says which holds", conflict)
    same = weighed[Verdict.DUPLICATE]
    if same >= SURE_OF_REPETITION:
        missing = unsaid(pair)
        if not missing:
            return Judgement(Verdict.DUPLICATE, "the same fact in other words", round(same, 3))
        return Judgement(Verdict.COEXIST, f'alike, and only one says "{missing}"', round(same, 3))
    return Judgement(Verdict.COEXIST, "both can be true", round(1 - conflict, 3))


def change_told(reading: Reading) -> str:
    """The words of a statement that tell of a change or a correction, or ""."""
    for table in _CHANGE_TABLES:
        found = reading.marks.get(table)
        if found:
            return _said(reading, found[0])
    for place in changed_verbs(reading):
        if not _opens_anew(reading, place):
            return reading.tokens[place].text
    first = reading.tokens[0] if reading.tokens else None
    if first is not None and first.lower in _OPENINGS:
        return first.text
    return next((token.text for token in reading.tokens if token.lower in _HAVE), "")


def contrasted(pair: Pair) -> str:
    """The value or word of the existing statement that the new one puts another for, or "".

    "The rate is 90, not 80" after "The rate is 80": all else that the existing one says recurs.
    """
    equal, differing, old_left, new_left = match_values(pair)
    put_away = set(contrasts(pair.old))
    stated = [*old_left, *(old for old, _ in differing)]
    is_all_said = not pair.old_left and all(value.start in put_away for value in stated)
    if not is_all_said or not (pair.new_left or new_left or differing):
        return ""
    same = {i: j for i, j in pair.old_to_new.items() if pair.how[i] is Sameness.EQUAL}
    same |= {one.start: other.start for one, other in equal}
    held = {j for i, j in same.items() if not pair.old.denied[i] and i not in put_away}
    return next((pair.new.tokens[j].text for j in contrasts(pair.new) if j in held), "")


def renewal_told(pair: Pair) -> str:
    """The word by which the new statement gives another value to the same thing ("new"), or "".

    "My new phone number is 555 0199" after "My phone number is 555 0142": but for that word both
    say the same words, and a value of one kind differs.
    """
    old, new = pair.old, pair.new
    newness = word_set("talk/newness")
    found = [place for place in new.matter if new.tokens[place].lower in newness]
    kept = [place for place in new.matter if place not in found]
    if not found or not kept:
        return ""
    is_one_thing = sorted(old.stems[i] for i in old.matter) == sorted(new.stems[j] for j in kept)
    _, differing, _, _ = match_values(pair)
    return new.tokens[found[0]].text if is_one_thing and differing else ""


def event_told(pair: Pair) -> str:
    """The past verb of a new statement on something that was told as lasting, or ""."""
    new = pair.new
    if has_past_verb(new) and not has_past_verb(pair.old) and not _opens_anew(new, new.verb):
        return new.tokens[new.verb].text
    return ""


def unsaid(pair: Pair) -> str:
    """What of the new statement the existing one does not say: a word, number or name, or ""."""
    if not (pair.old.is_whole and pair.new.is_whole):
        return "more than was read"
    _, differing, _, new_left = match_values(pair)
    for value in [*(other for _, other in differing), *new_left]:
        return _text(pair.new, value)
    for place in pair.new_left:
        if pair.new.names[place]:
            return pair.new.tokens[place].text
    return ""


def _opens_anew(reading: Reading, verb: int) -> bool:
    """Whether a verb's object is something not spoken of before ("left a phone in Leeds")."""
    behind = verb + 1
    return behind < len(reading.tokens) and reading.tokens[behind].lower in {"a", "an"}


def _weighed(shares: Shares, *, told: bool) -> dict[Verdict, float]:
    if told:
        return dict(shares)
    lessened = {**shares, Verdict.SUPERSEDE: shares[Verdict.SUPERSEDE] * _UNTOLD}
    whole = sum(lessened.values())
    return {verdict: share / whole for verdict, share in lessened.items()}


def _what_parts(pair: Pair) -> str:
    """The loudest finding that parts the two, in words; "" where one only says more."""
    _, differing, old_values, new_values = match_values(pair)
    for one, other in differing:
        return f"two values: {_text(pair.old, one)} / {_text(pair.new, other)}"
    for table, name in (("opposites", "opposite states"), ("kinds", "different kinds")):
        for old in pair.old.marks.get(table, ()):
            for new in pair.new.marks.get(table, ()):
                if old.row == new.row and old.pole != new.pole:
                    return f"{name}: {_said(pair.old, old)} / {_said(pair.new, new)}"
    for i, j in pair.old_to_new.items():
        if pair.old.denied[i] != pair.new.denied[j]:
            return f'one denies what the other says of "{pair.old.tokens[i].text}"'
    left = [
        [*places, *(value.start for value in values)]
        for places, values in ((pair.old_left, old_values), (pair.new_left, new_values))
    ]
    if not all(left):
        return ""
    said = [
        " ".join(reading.tokens[place].text for place in places[:3])
        for reading, places in zip((pair.old, pair.new), left, strict=True)
    ]
    return f"the two do not fit together: {said[0]} / {said[1]}"


def _said(reading: Reading, mark: Mark) -> str:
    return " ".join(token.text for token in reading.tokens[mark.start : mark.end])


def _text(reading: Reading, value: Value) -> str:
    return " ".join(token.text for token in reading.tokens[value.start : value.end])
