"""What decided a pair, in words."""

from __future__ import annotations

from ..types import Verdict
from .pairs.evidence import Evidence
from .reading.frames import Reading
from .reading.quantities import Quantity


def reason_for(verdict: Verdict, evidence: Evidence) -> str:
    """The finding that speaks loudest for a verdict, in words, with the values it saw."""
    if verdict is Verdict.SUPERSEDE:
        return _why_supersede(evidence)
    if verdict is Verdict.DISPUTE:
        return f"{_why_dispute(evidence)}, nothing says which holds"
    if verdict is Verdict.COEXIST:
        return _why_coexist(evidence)
    same = ", ".join(f"{a.text} = {b.text}" for a, b in evidence.comparison.equal_values[:2])
    return f"the same fact in other words ({same})" if same else "the same fact in other words"


def _why_supersede(evidence: Evidence) -> str:
    signals = evidence.signals
    if signals.correction:
        return f'a correction ("{signals.correction}")'
    if signals.change:
        return f'an explicit change ("{signals.change}")'
    if evidence.ending:
        return f"an event that ends the state ({evidence.ending})"
    if signals.weak:
        return f'an event that replaces it ("{signals.weak}")'
    return "a later event after which the earlier state is over"


def _why_dispute(evidence: Evidence) -> str:
    c = evidence.comparison
    if c.other_values:
        x, y = c.other_values[0]
        name = _attribute(evidence, x, y)
        return f"two values of one attribute{f' ({name})' if name else ''}: {x.text} / {y.text}"
    if c.oppositions:
        _, a, b = c.oppositions[0]
        return f"opposite states: {a} / {b}"
    if c.polarity:
        return f"one denies what the other says: {c.polarity[0]} / {c.polarity[1]}"
    if evidence.clash:
        return evidence.clash
    left = [
        " ".join(reading.tokens[word.position].text for word in side[:3])
        for reading, side in ((evidence.existing, c.left_existing), (evidence.new, c.left_new))
    ]
    return f"the two do not fit together: {left[0] or '-'} / {left[1] or '-'}"


# The attributes that a figure can be the value of, by the first part of its kind.
_FITTING = {
    "date": frozenset({"date", "weekday", "clock"}),
    "deadline": frozenset({"date", "weekday", "clock", "duration"}),
    "born": frozenset({"date"}),
    "price": frozenset({"money"}),
    "port": frozenset({"number", "count", "label"}),
    "version": frozenset({"version", "label", "number"}),
}
_COUNTED = frozenset({"number", "count", "ordinal"})
_MOST_WORDS = 3


def _attribute(evidence: Evidence, x: Quantity, y: Quantity) -> str:
    """What two figures are of, in a word of the texts, or "" where that is not sure."""
    name = evidence.comparison.attribute_name()
    if {each.kind.partition(":")[0] for each in (x, y)} <= _FITTING.get(name, frozenset()):
        return "time" if x.kind == y.kind == "clock" else name
    first, second = _counted(evidence.existing, x), _counted(evidence.new, y)
    same = [a.casefold() for a in first] == [b.casefold() for b in second]
    return " ".join(first) if same else ""


def _counted(reading: Reading, value: Quantity) -> list[str]:
    """The words behind a bare figure, or the one before it: "parking spaces", "channel"."""
    if value.kind not in _COUNTED:
        return []
    said = {word.position for word in reading.words if not word.is_name} - {reading.verb_at}
    end = value.end
    while end in said and end < value.end + _MOST_WORDS:
        end += 1
    if end == value.end:
        start = value.start - 1
        return [reading.tokens[start].text] if start in said else []
    return [token.text for token in reading.tokens[value.end : end]]


def _why_coexist(evidence: Evidence) -> str:
    signals = evidence.signals
    if evidence.elsewhere:
        return evidence.elsewhere
    if evidence.places:
        return f"different scopes: {evidence.places}"
    for quote, kind in (
        (signals.additive, "an addition"),
        (signals.unreal, "only considered"),
        (signals.temporary, "a passing state"),
        (signals.past, "told as past"),
        (signals.condition, "holds for some occasions only"),
    ):
        if quote:
            return f'{kind} ("{quote}")'
    return "nothing in the two excludes the other"
